// The HTTP backend of prony: the records of /json/{n} for targets with the route
// /complex/{id}, which calls another service.
//
// Deliberately absent: TLS, and any log per call, which would add to what is
// measured.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const (
	defaultAddress = "127.0.0.1:8081"

	// How long calls in flight may take after the stop signal.
	shutdownGrace = 5 * time.Second

	// A client that sends its request slowly holds a connection no longer than this.
	readTimeout = 5 * time.Second
	// Longer than any pause between two calls of a target that keeps its connection.
	idleTimeout    = 120 * time.Second
	maxHeaderBytes = 64 << 10

	// Longest wait that a call may ask for.
	waitMax = 5 * time.Second
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	// A second signal then ends the process at once.
	context.AfterFunc(ctx, stop)
	address := os.Getenv("LISTEN")
	if address == "" {
		address = defaultAddress
	}
	if err := run(ctx, address, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// run serves until ctx is done. It writes "listening on ADDR" to stderr once the
// listener is bound, with the real port where the address asks for port 0.
func run(ctx context.Context, address string, stderr io.Writer) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen on %q: set LISTEN to a free host:port of this machine (%w)", address, err)
	}
	server := &http.Server{
		Handler: routes(), ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(stderr, "listening on %s\n", listener.Addr())
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s ended: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	err = server.Shutdown(limited)
	if errors.Is(err, context.DeadlineExceeded) {
		_ = server.Close()
		err = fmt.Errorf("calls still open %s after the stop signal were cut off", shutdownGrace)
	}
	<-served
	return err
}

func routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /records/{n}", list)
	return mux
}

func list(w http.ResponseWriter, r *http.Request) {
	text := r.PathValue("n")
	n, err := strconv.Atoi(text)
	// Itoa refuses "+1" and "01", which Atoi takes.
	if err != nil || n < countMin || n > countMax || strconv.Itoa(n) != text {
		msg := fmt.Sprintf("n must be an integer from %d to %d", countMin, countMax)
		write(w, http.StatusBadRequest, answer{http.StatusBadRequest, msg, struct{}{}})
		return
	}
	wait := r.URL.Query().Get("wait")
	if wait != "" {
		pause, err := time.ParseDuration(wait)
		if err != nil || pause < 0 || pause > waitMax {
			msg := fmt.Sprintf("wait must be a time up to %s", waitMax)
			write(w, http.StatusBadRequest, answer{http.StatusBadRequest, msg, struct{}{}})
			return
		}
		select {
		case <-time.After(pause):
		case <-r.Context().Done():
		}
	}
	write(w, http.StatusOK, answer{0, "ok", records(n)})
}

func write(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, "encoding the answer: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A failed write means that the client has gone.
	_, _ = w.Write(body)
}
