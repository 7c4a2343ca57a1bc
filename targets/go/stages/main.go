// The tuning stages of one Go service, selectable by knobs: what /work does, and
// how, follows from the environment (settings.go). The answer of /work is the
// same for all settings, so that a load can check it.
//
// Routing is net/http's. Deliberately absent: anything that changes with a stage
// outside /work, but for GOMAXPROCS and keep-alive, which belong to the process.
package main

import (
	"net/http"
	"os"

	"prony.dev/targets/common/plain"
)

func main() {
	chosen, err := readSettings(os.Getenv)
	plain.End(err)
	chosen.applyToProcess()
	plain.Main(newRouter(chosen))
}

func newRouter(chosen settings) http.Handler {
	mux := plain.Routes()
	mux.Handle("GET /work", newWorkHandler(chosen))
	mux.HandleFunc("GET /switch/{n}", switchHandler)
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
