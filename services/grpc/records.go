// The service prony.v1.Records: the records of /json/{n}, built for each
// call, because that work belongs to the request. The values are those of
// targets/go/common/contract; a test holds them to scenarios/json-1.json. They
// are written out here so that a service depends on no target.
package main

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"prony.dev/services/grpc/recordspb"
)

// Limits of n. The upper one bounds a reply to 8000 records, about 600 KB,
// which is below the 4 MiB that gRPC clients take by default.
const (
	countMin = 1
	countMax = 1000

	recordsPerCount = 8
)

// backend answers prony.v1.Records. It has no state and is safe for concurrent use.
type backend struct {
	recordspb.UnimplementedRecordsServer
}

// List returns the records 1 to 8*n, or INVALID_ARGUMENT where n is not from 1
// to 1000.
func (backend) List(_ context.Context, request *recordspb.ListRequest) (*recordspb.ListReply, error) {
	n := request.GetN()
	if n < countMin || n > countMax {
		return nil, status.Errorf(codes.InvalidArgument, "n is %d, must be from %d to %d", n, countMin, countMax)
	}
	records := make([]*recordspb.Record, recordsPerCount*n)
	for k := range records {
		records[k] = record(k + 1)
	}
	return &recordspb.ListReply{Records: records}, nil
}

func record(id int) *recordspb.Record {
	return &recordspb.Record{
		Id:     int32(id),
		Name:   fmt.Sprintf("user-%06d", id),
		Email:  fmt.Sprintf("user-%06d@example.com", id),
		Age:    int32(18 + (id*7)%50),
		Active: id%2 == 0,
		Score:  float64(id) * 1.5,
		Tags:   tags(id),
	}
}

// tags rotates alpha, beta, gamma to the left by id places.
func tags(id int) []string {
	names := [...]string{"alpha", "beta", "gamma"}
	rotated := make([]string, len(names))
	for k := range rotated {
		rotated[k] = names[(k+id)%len(names)]
	}
	return rotated
}
