// Package recordspb is the generated client of prony.v1.Records, whose source
// is services/grpc/proto/records.proto. Only this file is written by hand. The
// Go targets have their own copy, so that they build without the backend.
package recordspb

//go:generate protoc -I ../../../../services/grpc/proto --go_out=. --go_opt=paths=source_relative,Mrecords.proto=prony.dev/targets/common/recordspb --go-grpc_out=. --go-grpc_opt=paths=source_relative,Mrecords.proto=prony.dev/targets/common/recordspb records.proto
