// The tuning stages of one Go service, selectable by knobs: what /work does, and
// how, follows from the environment (settings.go). The answer of /work is the
// same for all settings, so that a load can check it.
//
// Routing is net/http's. Deliberately absent: anything that changes with a stage
// outside /work, but for GOMAXPROCS and keep-alive, which belong to the process.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
)

func main() {
	chosen, err := readSettings(os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	chosen.applyToProcess()
	serve.Main(newRouter(chosen))
}

func newRouter(chosen settings) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", ping)
	mux.HandleFunc("GET /json/{n}", records)
	mux.HandleFunc("GET /health", health)
	mux.Handle("GET /work", newWorkHandler(chosen))
	mux.Handle("GET /debug/runtime", runtimestats.Handler())
	if !chosen.keepAlive() {
		return closeAfterAnswer(mux)
	}
	return mux
}

// closeAfterAnswer has net/http close each connection after its first answer.
func closeAfterAnswer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		next.ServeHTTP(w, r)
	})
}

func ping(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, contract.OK(contract.Empty{}))
}

func records(w http.ResponseWriter, r *http.Request) {
	n, ok := contract.ParseCount(r.PathValue("n"))
	if !ok {
		writeJSON(w, http.StatusBadRequest, contract.BadCount())
		return
	}
	writeJSON(w, http.StatusOK, contract.OK(contract.Records(n)))
}

func health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, contract.Health{Status: "ok"})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Every value here can be encoded, so an error means that the client has gone.
	_ = json.NewEncoder(w).Encode(value)
}
