// Package serve binds the address, serves and stops with grace, alike for every
// Go target: same listener, same timeouts, same stop.
//
// Deliberately absent: TLS, routing and middleware.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/profiling"
)

const (
	defaultAddress = "127.0.0.1:8080"

	// How long requests in flight may take after the stop signal.
	shutdownGrace = 5 * time.Second

	// A client that sends its request slowly holds a connection no longer than this.
	readHeaderTimeout = 5 * time.Second
	// No route needs more; the default is 1 MiB a connection.
	maxHeaderBytes = 64 << 10
)

// Server is what serves connections: *http.Server, or what a framework has in
// its place. Serve ends with an error at once when the listener fails.
type Server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
	Close() error
}

// HTTP is the server of net/http with the settings of k; where these say so, it
// answers below /debug/pprof/ before handler does.
func HTTP(handler http.Handler, k knobs.Knobs) *http.Server {
	server := &http.Server{
		Handler:           profiling.Around(handler, k.Pprof),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       k.ReadTimeout,
		WriteTimeout:      k.WriteTimeout,
		IdleTimeout:       k.KeepAliveTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		Protocols:         new(http.Protocols),
	}
	// Go takes the limit of the header even where that of the whole request is shorter.
	if k.ReadTimeout > 0 {
		server.ReadHeaderTimeout = min(readHeaderTimeout, k.ReadTimeout)
	}
	server.SetKeepAlivesEnabled(k.KeepAlive)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(k.HTTP2)
	return server
}

// Main serves on the address in LISTEN until SIGTERM or SIGINT, then ends the
// process: 0 after a clean stop, 1 with a message on stderr otherwise. A second
// signal ends the process at once.
func Main(server Server) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop)

	address := os.Getenv("LISTEN")
	if address == "" {
		address = defaultAddress
	}
	if err := run(ctx, address, server, os.Stderr, shutdownGrace); err != nil {
		Fail(err)
	}
}

// Fail ends the process with a message on stderr and status 1.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, "error:", err)
	os.Exit(1)
}

// run serves until ctx is done. It writes "listening on ADDR" to stderr once the
// listener is bound, with the real port when address asks for port 0.
func run(ctx context.Context, address string, server Server, stderr io.Writer, grace time.Duration) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return listenError(address, err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(stderr, "listening on %s\n", listener.Addr())

	select {
	case err := <-served:
		return fmt.Errorf("serving on %s ended: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	err = shutdown(server, grace)
	// Serve closes the listener before it returns; the port is free from here on.
	<-served
	return err
}

func listenError(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken: stop the process that holds it, or set LISTEN to a free host:port (%w)", address, err)
	}
	return fmt.Errorf("cannot listen on %q: set LISTEN to a host:port of this machine (%w)", address, err)
}

// shutdown lets requests in flight end. Those still open after grace are cut
// off, which is an error: their clients saw a broken answer.
func shutdown(server Server, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		_ = server.Close()
		return fmt.Errorf("connections still open %s after the stop signal were cut off (%w)", grace, err)
	}
	return nil
}
