// The standard library as a target: http.ServeMux with method and wildcard
// patterns. No framework; net/http itself recovers from a panic in a handler.
package main

import (
	"net/http"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/hops"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/routes"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
)

func main() {
	a := app.Start()
	serve.Main(serve.HTTP(newRouter(a), a.Knobs))
}

// target has the handlers as methods, with the App they share.
type target struct {
	*app.App
	chains *hops.Chains
}

func newRouter(a *app.App) http.Handler {
	t := target{a, hops.New(empty)}
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
	mux.HandleFunc("GET /hops/{k}", t.hops)
	mux.HandleFunc("GET /param/{id}", t.param)
	mux.HandleFunc("POST /decode", t.decode)
	mux.HandleFunc("GET /allocate/{n}", t.allocate)
	mux.HandleFunc("GET /complex/{id}", t.complex)
	t.many(mux)
	mux.Handle("GET /debug/runtime", runtimestats.HandlerOf(t.Databases, &t.Served))
	if t.Served.Times != nil {
		mux.Handle("GET /debug/requests", t.Served.Times)
	}

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
	return t.Served.Wrap(a.Workers.Wrap(t.around(mux)))
}

// many adds the routes whose number a knob says.
func (t target) many(mux *http.ServeMux) {
	if t.Knobs.Router != knobs.List {
		routes.Each(t.Knobs.Routes, func(number int) {
			mux.HandleFunc("GET "+routes.Path(number, "{id}"), t.numbered(number))
		})
		return
	}
	list := &routes.List{}
	routes.Each(t.Knobs.Routes, func(number int) {
		handler := t.numbered(number)
		list.Add(http.MethodGet, routes.Path(number, "{id}"), func(w http.ResponseWriter, r *http.Request, id string) {
			r.SetPathValue("id", id)
			handler(w, r)
		})
	})
	mux.HandleFunc("GET /routes/", func(w http.ResponseWriter, r *http.Request) {
		if !list.ServeHTTP(w, r) {
			t.notFound(w, r)
		}
	})
}

// empty is a handler behind k layers that only call the next one.
func empty(k int) http.Handler {
	var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	for range k {
		handler = hop(handler)
	}
	return handler
}

func hop(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
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
