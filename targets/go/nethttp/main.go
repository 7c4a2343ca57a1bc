// The standard library as a target: http.ServeMux with method and wildcard
// patterns. No framework; net/http itself recovers from a panic in a handler.
package main

import (
	"net/http"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
)

func main() {
	a := app.Start()
	serve.Main(serve.HTTP(newRouter(a), a.Knobs))
}

// target has the handlers as methods, with the App they share.
type target struct{ *app.App }

func newRouter(a *app.App) http.Handler {
	t := target{a}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", t.ping)
	mux.HandleFunc("GET /health", t.health)
	mux.HandleFunc("GET /json/{n}", t.records)
	mux.HandleFunc("GET /db/{id}", t.user)
	mux.HandleFunc("GET /db/scan", t.scan)
	mux.HandleFunc("GET /file/{name}", t.file)
	mux.HandleFunc("GET /auth", t.auth)
	mux.HandleFunc("GET /cache/{key}", t.cache)
	mux.HandleFunc("GET /grpc/{n}", t.remote)
	mux.HandleFunc("GET /mixed", t.mixed)
	mux.HandleFunc("POST /upload", t.upload)
	counter := new(runtimestats.Counter)
	mux.Handle("GET /debug/runtime", runtimestats.HandlerOf(t.Databases, counter))

	layers := []layer{t.logged, t.authorized, traced}
	if a.Knobs.Logger {
		layers[0] = none // every route is logged already
	}
	mux.HandleFunc("GET /middleware/{k}", t.layers)
	for k, path := range []string{"/middleware/1", "/middleware/2", "/middleware/3"} {
		mux.Handle("GET "+path, chain(t.behind(k+1), layers[:k+1]...))
	}
	if a.Knobs.NotFound == knobs.Contract {
		mux.HandleFunc("/", t.notFound)
	}
	return counter.Wrap(a.Workers.Wrap(t.around(mux)))
}

// around puts the layers of the knobs before all routes.
func (t target) around(handler http.Handler) http.Handler {
	if t.Knobs.BodyParsing {
		handler = parsed(handler)
	}
	if t.Knobs.ErrorHandler == knobs.Contract {
		handler = t.recovered(handler)
	}
	if t.Knobs.Logger {
		handler = t.logged(handler)
	}
	return handler
}
