// Package plain is what targets share that show a technique rather than a
// framework: the routes that every target has, the way net/http does them, and
// one server with the timeouts of all Go targets.
//
// It imports the standard library, runtimestats and profiling only, so that a target that
// uses it has no other module. Deliberately absent: services, middleware and
// knobs, which the framework targets have from their own packages.
package plain

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"prony.dev/targets/common/runtimestats"
)

// Limits of n in /json/{n}. The upper one bounds an answer to 8000 records.
const (
	countMin = 1
	countMax = 1000

	recordsPerCount = 8
)

// Answer is the envelope of all routes but /health.
type Answer struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

// Empty is the data of an answer that has none; it encodes as {}.
type Empty struct{}

// OK wraps the data of a good answer.
func OK(data any) Answer {
	return Answer{Code: 0, Msg: "ok", Data: data}
}

// served counts the requests of the process, which has one server.
var served runtimestats.Counter

// Routes serves /ping, /json/{n}, /health and /debug/runtime, which tells how many
// requests NewServer has passed on. A target adds its own.
func Routes() *http.ServeMux { return RoutesWith(func(map[string]any) {}) }

// RoutesWith is Routes, and more adds what the target counts itself to /debug/runtime.
func RoutesWith(more func(answer map[string]any)) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", ping)
	mux.HandleFunc("GET /json/{n}", list)
	mux.HandleFunc("GET /health", health)
	mux.Handle("GET /debug/runtime", runtimestats.HandlerWith(&served, more))
	return mux
}

// WriteJSON answers with status and value, which encoding/json must be able to encode.
func WriteJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// An error means that the client has gone.
	_ = json.NewEncoder(w).Encode(value)
}

func ping(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusOK, OK(Empty{}))
}

func health(w http.ResponseWriter, _ *http.Request) {
	WriteJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func list(w http.ResponseWriter, r *http.Request) {
	text := r.PathValue("n")
	n, err := strconv.Atoi(text)
	// Itoa refuses "+1" and "01", which Atoi takes.
	if err != nil || n < countMin || n > countMax || strconv.Itoa(n) != text {
		msg := fmt.Sprintf("n must be an integer from %d to %d", countMin, countMax)
		WriteJSON(w, http.StatusBadRequest, Answer{Code: http.StatusBadRequest, Msg: msg, Data: Empty{}})
		return
	}
	WriteJSON(w, http.StatusOK, OK(records(n)))
}

// record is one element of the data of /json/{n}.
type record struct {
	ID     int      `json:"id"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Age    int      `json:"age"`
	Active bool     `json:"active"`
	Score  float64  `json:"score"`
	Tags   []string `json:"tags"`
}

// records builds 8n records, because that work belongs to the request.
func records(n int) []record {
	all := make([]record, recordsPerCount*n)
	for k := range all {
		id := k + 1
		all[k] = record{
			ID:     id,
			Name:   fmt.Sprintf("user-%06d", id),
			Email:  fmt.Sprintf("user-%06d@example.com", id),
			Age:    18 + (id*7)%50,
			Active: id%2 == 0,
			Score:  float64(id) * 1.5,
			Tags:   tags(id),
		}
	}
	return all
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
