// Tests over a real connection on loopback: each method as the contract says,
// health and reflection, and the knobs of target.toml.
package main

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"prony.dev/targets/common/env"
	"prony.dev/targets/common/manifesttest"
	pb "prony.dev/targets/grpc/contractpb"
)

// connected starts the target and a client of it, which end with the test.
func connected(t *testing.T) (*grpc.ClientConn, context.Context) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := newServer(knobs{streamsMax: streamsMaxDefault})
	go func() { _ = served.Serve(listener) }()
	t.Cleanup(func() { _ = served.Close() })
	client, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return client, ctx
}

const sha256OfABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func TestUnaryMethods(t *testing.T) {
	connection, ctx := connected(t)
	client := pb.NewContractClient(connection)
	ping, err := client.Ping(ctx, &pb.PingRequest{})
	if err != nil || ping.GetCode() != 0 || ping.GetMsg() != "ok" {
		t.Fatal(ping, err)
	}
	records, err := client.Records(ctx, &pb.RecordsRequest{N: 3})
	if err != nil || len(records.GetData()) != 24 {
		t.Fatal(records, err)
	}
	last := records.GetData()[23]
	if last.GetName() != "user-000024" || last.GetAge() != 36 || last.GetScore() != 36 || strings.Join(last.GetTags(), " ") != "alpha beta gamma" {
		t.Error(last)
	}
	for _, n := range []int32{0, -1, 1001} {
		if _, err := client.Records(ctx, &pb.RecordsRequest{N: n}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("n %d: %v", n, err)
		}
	}
	upload, err := client.Upload(ctx, &pb.UploadRequest{Payload: []byte("abc")})
	if err != nil || upload.GetBytes() != 3 || upload.GetSha256() != sha256OfABC {
		t.Error(upload, err)
	}
	if count, err := client.Count(ctx, &pb.CountRequest{}); err != nil || count.GetCalls() != 6 {
		t.Error(count, err)
	}
}

func TestStreams(t *testing.T) {
	connection, ctx := connected(t)
	client := pb.NewContractClient(connection)
	watch, err := client.Watch(ctx, &pb.RecordsRequest{N: 2})
	if err != nil {
		t.Fatal(err)
	}
	for id := int32(1); id <= 16; id++ {
		if record, err := watch.Recv(); err != nil || record.GetId() != id {
			t.Fatal(record, err)
		}
	}
	if _, err := watch.Recv(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	fill, err := client.Fill(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"a", "bc"} {
		if err := fill.Send(&pb.UploadRequest{Payload: []byte(part)}); err != nil {
			t.Fatal(err)
		}
	}
	if reply, err := fill.CloseAndRecv(); err != nil || reply.GetBytes() != 3 || reply.GetSha256() != sha256OfABC {
		t.Error(reply, err)
	}
	echo, err := client.Echo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := echo.Send(&pb.UploadRequest{Payload: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if reply, err := echo.Recv(); err != nil || string(reply.GetPayload()) != "x" {
		t.Error(reply, err)
	}
}

func TestItSaysThatItServes(t *testing.T) {
	connection, ctx := connected(t)
	reply, err := grpc_health_v1.NewHealthClient(connection).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil || reply.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Error(reply, err)
	}
}

func TestKnobsAreThoseOfTheManifest(t *testing.T) {
	defaults := manifesttest.Defaults(t)
	asked := manifesttest.Over(defaults)
	read, err := readKnobs(env.From(asked.Lookup))
	if err != nil || read != (knobs{streamsMax: streamsMaxDefault}) {
		t.Error(read, err)
	}
	if _, err := readKnobs(env.From(func(string) string { return "x" })); err == nil {
		t.Error("no number is taken for one")
	}
}
