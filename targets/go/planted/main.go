// A target with known faults, to prove that what explains measurements finds the
// cause that was planted and no other.
//
// /planted suffers from what the knobs say; all other routes are as every target
// has them. Several processes share the port where workers is above 1: the first
// process then only starts and ends them.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"prony.dev/targets/common/plain"
	"prony.dev/targets/common/runtimestats"
)

const (
	// Set for the worker processes: which one it is, from 0.
	workerVariable = "PLANTED_WORKER"

	// How long requests in flight may take after the stop signal.
	grace = 5 * time.Second
)

func main() { plain.End(run()) }

func run() error {
	s, err := readSettings(os.Getenv)
	if err != nil {
		return err
	}
	if err := withoutPreemption(s); err != nil {
		return err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	worker := os.Getenv(workerVariable)
	if s.workers > 1 && worker == "" {
		return supervise(s.workers, signals)
	}
	if s.descriptors > 0 {
		limit := syscall.Rlimit{Cur: uint64(s.descriptors), Max: uint64(s.descriptors)}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return fmt.Errorf("cannot limit descriptors to %d: %w", s.descriptors, err)
		}
	}
	f := newFaults(s)
	f.isSlow = worker == "0"
	return serve(f, signals)
}

// serve answers until a signal comes.
func serve(f *faults, signals <-chan os.Signal) error {
	stepsPerSecond() // measured before anything else takes the CPU
	if f.dials {
		backend, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("cannot listen for the own backend: %w", err)
		}
		defer backend.Close()
		f.backend = backend.Addr().String()
		go serveBackend(backend)
	}
	if f.readFile > 0 {
		if err := f.writeFile(); err != nil {
			return err
		}
		defer f.file.Close()
	}
	live := heap(f.live)
	stop := make(chan struct{})
	defer close(stop)
	if f.collectEvery > 0 {
		go f.collect(stop)
	}
	listener, err := listen(plain.Address(), f.settings)
	if err != nil {
		return err
	}
	server := plain.NewServer(routes(f))
	server.SetKeepAlivesEnabled(!f.closes)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(os.Stderr, "listening on %s\n", listener.Addr())
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s ended: %w", listener.Addr(), err)
	case <-signals:
	}
	err = plain.Shutdown(server, grace)
	<-served
	runtime.KeepAlive(live)
	return err
}

// routes are those of every target, with the counts of the pool, and /planted.
func routes(f *faults) http.Handler {
	inner := plain.Routes()
	counter := new(runtimestats.Counter)
	mux := http.NewServeMux()
	mux.Handle("/", inner)
	mux.HandleFunc("GET /planted", f.answer)
	readings := runtimestats.HandlerWith(counter, func(map[string]any) {})
	if f.workers > 1 {
		// Each counts only its own.
		readings = runtimestats.Handler()
	}
	mux.Handle("GET /debug/runtime", withPool(readings, f.pool))
	return counter.Wrap(mux)
}

// withPool adds the counts of the pool to the readings of the runtime, as "pool".
func withPool(readings http.Handler, p pool) http.Handler {
	if p.counts() == nil {
		return readings
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		readings.ServeHTTP(recorder, r)
		var answer map[string]any
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer["pool"] = p.counts()
		plain.WriteJSON(w, http.StatusOK, answer)
	})
}

// answer is that of /ping, once the faults were suffered.
func (f *faults) answer(w http.ResponseWriter, _ *http.Request) {
	if err := f.suffer(); err != nil {
		failure := plain.Answer{Code: http.StatusInternalServerError, Msg: err.Error(), Data: plain.Empty{}}
		plain.WriteJSON(w, http.StatusInternalServerError, failure)
		return
	}
	if !f.twoWrites {
		plain.WriteJSON(w, http.StatusOK, plain.OK(plain.Empty{}))
		return
	}
	writeInTwo(w)
}

// writeInTwo sends header and body by one write each. With Nagle's algorithm the
// second waits until the first is acknowledged, which a client delays that has
// nothing to send before it has the whole answer.
func writeInTwo(w http.ResponseWriter) {
	body, err := json.Marshal(plain.OK(plain.Empty{}))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	// Errors mean that the client has gone.
	_ = http.NewResponseController(w).Flush()
	_, _ = w.Write(body)
}
