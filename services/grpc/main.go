// The gRPC backend of prony: prony.v1.Records and the standard health service,
// over TLS, for targets with the route /grpc/{n}.
//
// The certificate file is complete before the port is bound, so a client that
// can connect can also check the server. Deliberately absent: plain text,
// reflection, and any log per call, which would add to what is measured.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"prony.dev/services/grpc/recordspb"
)

const (
	defaultAddress = "127.0.0.1:50051"
	defaultCAFile  = ".build/ca.pem"

	// How long calls in flight may take after the stop signal.
	shutdownGrace = 5 * time.Second

	// A request is a few bytes; more is no client of ours.
	requestBytesMax = 64 << 10
	// One target keeps one connection for all its requests, so this bounds the
	// calls of a target in flight. More wait in the client.
	streamsMax = 10_000
	// A connection that does not end its handshake is dropped.
	handshakeTimeout = 5 * time.Second
)

// options are the settings of one process.
type options struct {
	address string
	caFile  string
	grace   time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	// A second signal then ends the process at once.
	context.AfterFunc(ctx, stop)

	settings := options{
		address: variable("LISTEN", defaultAddress),
		caFile:  variable("GRPC_CA_FILE", defaultCAFile),
		grace:   shutdownGrace,
	}
	if err := run(ctx, settings, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func variable(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// run serves until ctx is done. It writes "listening on ADDR" to stderr once
// the listener is bound, with the real port where the address asks for port 0.
func run(ctx context.Context, settings options, stderr io.Writer) error {
	self, err := newIdentity(time.Now(), settings.address)
	if err != nil {
		return err
	}
	if err := writeCA(settings.caFile, self.caPEM); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", settings.address)
	if err != nil {
		return listenError(settings.address, err)
	}
	server, states := newServer(self.server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(stderr, "listening on %s\n", listener.Addr())

	select {
	case err := <-served:
		return fmt.Errorf("serving on %s ended: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	states.Shutdown()
	err = shutdown(server, settings.grace)
	<-served
	return err
}

// newServer registers both services; the health states are those of the whole
// server ("") and of prony.v1.Records.
func newServer(certificate tls.Certificate) (*grpc.Server, *health.Server) {
	server := grpc.NewServer(
		grpc.Creds(credentials.NewTLS(&tls.Config{
			Certificates: []tls.Certificate{certificate},
			MinVersion:   tls.VersionTLS12,
		})),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.MaxConcurrentStreams(streamsMax),
		grpc.MaxRecvMsgSize(requestBytesMax),
	)
	recordspb.RegisterRecordsServer(server, backend{})
	states := health.NewServer()
	states.SetServingStatus(recordspb.Records_ServiceDesc.ServiceName, grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(server, states)
	return server, states
}

func listenError(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken: stop the process that holds it, or set LISTEN to a free host:port (%w)", address, err)
	}
	return fmt.Errorf("cannot listen on %q: set LISTEN to a host:port of this machine (%w)", address, err)
}

// shutdown lets calls in flight end. Those still open after grace are cut off,
// which is an error: their clients saw a broken answer.
func shutdown(server *grpc.Server, grace time.Duration) error {
	ended := make(chan struct{})
	go func() {
		server.GracefulStop()
		close(ended)
	}()
	limit := time.NewTimer(grace)
	defer limit.Stop()
	select {
	case <-ended:
		return nil
	case <-limit.C:
		server.Stop()
		<-ended
		return fmt.Errorf("calls still open %s after the stop signal were cut off", grace)
	}
}
