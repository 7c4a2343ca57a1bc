// The routes: those that every target has, the way net/http does them.
package main

import (
	"encoding/json"
	"net/http"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/runtimestats"
)

func newRouter() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", ping)
	mux.HandleFunc("GET /json/{n}", records)
	mux.HandleFunc("GET /health", health)
	mux.Handle("GET /debug/runtime", runtimestats.Handler())
	return mux
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
