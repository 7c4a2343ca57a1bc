// Binding, serving and stopping, with the timeouts that ../README.md gives for
// all Go targets.
package plain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"prony.dev/targets/common/profiling"
)

const (
	defaultAddress = "127.0.0.1:8080"

	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 30 * time.Second
	idleTimeout       = 120 * time.Second
	maxHeaderBytes    = 64 << 10

	// How long requests in flight may take after the stop signal.
	shutdownGrace = 5 * time.Second
)

// Address is LISTEN, or 127.0.0.1:8080 where it is not set.
func Address() string {
	if address := os.Getenv("LISTEN"); address != "" {
		return address
	}
	return defaultAddress
}

// NewServer has handler behind the count of requests, and all timeouts, and Go's profiles where PPROF is true;
// it is not started. A wrong PPROF ends the process.
func NewServer(handler http.Handler) *http.Server {
	serves, err := profiling.Serves(os.Getenv)
	End(err)
	return &http.Server{
		Handler:           profiling.Around(served.Wrap(handler), serves),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
	}
}

// Listen binds address. An error says what to do.
func Listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken: stop the process that holds it, or set LISTEN to a free host:port (%w)", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %q: set LISTEN to a host:port of this machine (%w)", address, err)
	}
	return listener, nil
}

// Shutdown lets requests in flight end. Those still open after grace are cut
// off, which is an error: their clients saw a broken answer.
func Shutdown(server *http.Server, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	err := server.Shutdown(ctx)
	// A listener that was closed before is no failure.
	if err != nil && !errors.Is(err, net.ErrClosed) {
		_ = server.Close()
		return fmt.Errorf("connections still open %s after the stop signal were cut off (%w)", grace, err)
	}
	return nil
}

// Main serves handler on Address until SIGTERM or SIGINT, then ends the process:
// 0 after a clean stop, 1 with a message on stderr otherwise. It writes
// "listening on ADDR" to stderr once bound. A second signal ends it at once.
func Main(handler http.Handler) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop)
	End(run(ctx, handler))
}

// End ends the process where there is an error: message on stderr, status 1.
func End(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, handler http.Handler) error {
	listener, err := Listen(Address())
	if err != nil {
		return err
	}
	server := NewServer(handler)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(os.Stderr, "listening on %s\n", listener.Addr())
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s ended: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	err = Shutdown(server, shutdownGrace)
	// Serve closes the listener before it returns; the port is free from here on.
	<-served
	return err
}
