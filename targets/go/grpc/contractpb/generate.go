// Package contractpb is the Go code of targets/proto/contract.proto, made by
// `go generate ./...` with protoc (Debian: protobuf-compiler) and the two
// plug-ins that go.mod pins as tools. Everything but this file is generated.
package contractpb

//go:generate go build -o ../.build/ google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
//go:generate protoc --proto_path=../../../proto --plugin=../.build/protoc-gen-go --plugin=../.build/protoc-gen-go-grpc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative contract.proto
