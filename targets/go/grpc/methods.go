// The methods of the contract. Records are built for each call, because that
// work belongs to the request.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"prony.dev/targets/common/contract"
	pb "prony.dev/targets/grpc/contractpb"
)

// Limits of n, and how many records one of n is.
const (
	countMax        = 1000
	recordsPerCount = 8
)

func (t *target) Ping(context.Context, *pb.PingRequest) (*pb.PingReply, error) {
	t.calls.Add(1)
	return &pb.PingReply{Msg: "ok"}, nil
}

func (t *target) Records(_ context.Context, request *pb.RecordsRequest) (*pb.RecordsReply, error) {
	t.calls.Add(1)
	count, err := records(request)
	if err != nil {
		return nil, err
	}
	data := make([]*pb.Record, count)
	for k := range data {
		data[k] = record(k + 1)
	}
	return &pb.RecordsReply{Msg: "ok", Data: data}, nil
}

func (t *target) Upload(_ context.Context, request *pb.UploadRequest) (*pb.UploadReply, error) {
	t.calls.Add(1)
	sum := newSum()
	sum.add(request)
	return sum.reply(), nil
}

func (t *target) Count(context.Context, *pb.CountRequest) (*pb.CountReply, error) {
	return &pb.CountReply{Calls: t.calls.Load()}, nil
}

func (t *target) Watch(request *pb.RecordsRequest, out grpc.ServerStreamingServer[pb.Record]) error {
	t.calls.Add(1)
	count, err := records(request)
	if err != nil {
		return err
	}
	for k := range count {
		if err := out.Send(record(k + 1)); err != nil {
			return err
		}
	}
	return nil
}

func (t *target) Fill(in grpc.ClientStreamingServer[pb.UploadRequest, pb.UploadReply]) error {
	t.calls.Add(1)
	sum := newSum()
	for {
		request, err := in.Recv()
		if errors.Is(err, io.EOF) {
			return in.SendAndClose(sum.reply())
		}
		if err != nil {
			return err
		}
		sum.add(request)
	}
}

func (t *target) Echo(stream grpc.BidiStreamingServer[pb.UploadRequest, pb.UploadRequest]) error {
	t.calls.Add(1)
	for {
		request, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := stream.Send(request); err != nil {
			return err
		}
	}
}

// records is how many records are asked for.
func records(request *pb.RecordsRequest) (int, error) {
	n := int(request.GetN())
	if n < 1 || n > countMax {
		return 0, status.Errorf(codes.InvalidArgument, "n is %d, must be from 1 to %d", n, countMax)
	}
	return recordsPerCount * n, nil
}

func record(id int) *pb.Record {
	from := contract.NewRecord(id)
	return &pb.Record{
		Id:     int32(from.ID),
		Name:   from.Name,
		Email:  from.Email,
		Age:    int32(from.Age),
		Active: from.Active,
		Score:  from.Score,
		Tags:   from.Tags,
	}
}

// sum is length and checksum of payloads.
type sum struct {
	bytes int64
	hash  hash.Hash
}

func newSum() *sum { return &sum{hash: sha256.New()} }

func (s *sum) add(request *pb.UploadRequest) {
	s.bytes += int64(len(request.GetPayload()))
	s.hash.Write(request.GetPayload())
}

func (s *sum) reply() *pb.UploadReply {
	return &pb.UploadReply{Bytes: s.bytes, Sha256: hex.EncodeToString(s.hash.Sum(nil))}
}
