// grpc-go as a target: prony.contract.v1.Contract, the standard health service
// and reflection, in plain text over HTTP/2. Deliberately absent: TLS, HTTP/1.1,
// and any log per call, which would add to what is measured.
package main

import (
	"context"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"prony.dev/targets/common/env"
	"prony.dev/targets/common/serve"
	"prony.dev/targets/grpc/contractpb"
)

// knobs are the settings of target.toml.
type knobs struct {
	// Goroutines that run the calls; 0: each call its own.
	streamWorkers int
	// Calls of a connection at a time.
	streamsMax int
}

const (
	streamWorkersMax  = 100_000
	streamsMaxDefault = 1000
	streamsMaxMax     = 1_000_000
)

func readKnobs(reader *env.Reader) (knobs, error) {
	read := knobs{
		streamWorkers: reader.Int("STREAM_WORKERS", 0, 0, streamWorkersMax),
		streamsMax:    reader.Int("STREAMS_MAX", streamsMaxDefault, 1, streamsMaxMax),
	}
	return read, reader.Err()
}

func main() {
	settings, err := readKnobs(env.System())
	if err != nil {
		serve.Fail(err)
	}
	serve.Main(newServer(settings))
}

// server is a gRPC server as package serve runs it.
type server struct {
	*grpc.Server
	states *health.Server
}

func newServer(settings knobs) server {
	counted := &target{}
	plain := grpc.NewServer(
		grpc.MaxConcurrentStreams(uint32(settings.streamsMax)),
		grpc.NumStreamWorkers(uint32(settings.streamWorkers)),
	)
	contractpb.RegisterContractServer(plain, counted)
	states := health.NewServer()
	grpc_health_v1.RegisterHealthServer(plain, states)
	reflection.Register(plain)
	return server{plain, states}
}

// Shutdown lets calls in flight end.
func (s server) Shutdown(ctx context.Context) error {
	s.states.Shutdown()
	ended := make(chan struct{})
	go func() {
		s.GracefulStop()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Serve ends without an error once the server is stopped.
func (s server) Serve(listener net.Listener) error { return s.Server.Serve(listener) }

// Close cuts off what is left.
func (s server) Close() error {
	s.Stop()
	return nil
}

// target answers the contract and counts its calls.
type target struct {
	contractpb.UnimplementedContractServer
	calls atomic.Int64
}
