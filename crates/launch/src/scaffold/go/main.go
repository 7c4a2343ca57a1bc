// A target in Go with the routes that every target has: /ping, /json/{n} and
// /health. Only the standard library; add your framework where it says.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// stopTimeout is the time that requests in flight have to be answered.
const stopTimeout = 5 * time.Second

type envelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

type record struct {
	ID     int      `json:"id"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Age    int      `json:"age"`
	Active bool     `json:"active"`
	Score  float64  `json:"score"`
	Tags   []string `json:"tags"`
}

var tags = [3]string{"alpha", "beta", "gamma"}

func main() {
	if err := serve(os.Getenv("LISTEN")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// serve runs until a stop signal and answers requests in flight before it ends.
func serve(addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newRouter(), ReadHeaderTimeout: 10 * time.Second}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-stop.Done():
	}
	ending, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return server.Close()
	}
	return nil
}

// newRouter is where a framework's router would stand.
func newRouter() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, envelope{Msg: "ok", Data: struct{}{}})
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /json/{n}", records)
	return mux
}

func records(w http.ResponseWriter, r *http.Request) {
	n, ok := parseCount(r.PathValue("n"))
	if !ok {
		msg := "n is a whole number from 1 to 1000"
		answer(w, http.StatusBadRequest, envelope{http.StatusBadRequest, msg, struct{}{}})
		return
	}
	list := make([]record, 8*n)
	for i := range list {
		list[i] = newRecord(i + 1)
	}
	answer(w, http.StatusOK, envelope{Msg: "ok", Data: list})
}

// parseCount takes plain decimal numbers from 1 to 1000: no sign, no leading 0.
func parseCount(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= 1000 && strconv.Itoa(n) == text
}

func newRecord(id int) record {
	name := fmt.Sprintf("user-%06d", id)
	return record{
		ID:     id,
		Name:   name,
		Email:  name + "@example.com",
		Age:    18 + 7*id%50,
		Active: id%2 == 0,
		Score:  1.5 * float64(id),
		Tags:   []string{tags[id%3], tags[(id+1)%3], tags[(id+2)%3]},
	}
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Every value here can be encoded, so an error means that the client has gone.
	_ = json.NewEncoder(w).Encode(value)
}
