// Iris as a target: panic recovery, no request log, its own optimizations on.
package main

import (
	"fmt"
	"net"
	"net/http"

	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/middleware/recover"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
)

func main() {
	a := app.Start()
	router, err := newRouter(a)
	if err != nil {
		serve.Fail(err)
	}
	serve.Main(newServer(router, a))
}

// server is the shared one, started by Iris, which has its say at the start.
type server struct {
	*http.Server
	iris *iris.Application
}

func newServer(router *iris.Application, a *app.App) server {
	return server{serve.HTTP(a.Served.Wrap(a.Workers.Wrap(router)), a.Knobs), router}
}

func (s server) Serve(listener net.Listener) error {
	s.Addr = listener.Addr().String()
	return s.iris.Run(iris.Raw(func() error { return s.iris.NewHost(s.Server).Serve(listener) }))
}

// target has the handlers as methods, with the App they share.
type target struct{ *app.App }

func newRouter(a *app.App) (*iris.Application, error) {
	t := target{a}
	router := iris.New()
	router.Configure(iris.WithOptimizations, iris.WithoutInterruptHandler, iris.WithoutServerError(iris.ErrServerClosed))
	if !a.Knobs.StartupLog {
		router.Configure(iris.WithoutStartupLog)
	}
	t.around(router)
	router.Get("/ping", t.ping)
	router.Get("/health", t.health)
	router.Get("/json/{n}", t.records)
	router.Get("/db/{id}", t.user)
	router.Get("/db/scan", t.scan)
	router.Get("/file/{name}", t.file)
	router.Get("/auth", t.auth)
	router.Get("/cache/{key}", t.cache)
	router.Get("/grpc/{n}", t.remote)
	router.Get("/mixed", t.mixed)
	router.Post("/upload", t.upload)
	router.Get("/debug/runtime", iris.FromStd(runtimestats.HandlerOf(t.Databases, &t.Served)))
	if t.Served.Times != nil {
		router.Get("/debug/requests", iris.FromStd(t.Served.Times))
	}

	log := t.logged()
	if a.Knobs.Logger {
		log = func(ctx iris.Context) { ctx.Next() } // every route is logged already
	}
	router.Get("/middleware/{k}", t.layers)
	router.Get("/middleware/1", log, t.behind(1))
	router.Get("/middleware/2", log, t.authorized, t.behind(2))
	router.Get("/middleware/3", log, t.authorized, traced, t.behind(3))
	if err := router.Build(); err != nil {
		return nil, fmt.Errorf("building the routes: %w", err)
	}
	return router, nil
}

// around puts the layers of the knobs before all routes.
func (t target) around(router *iris.Application) {
	if t.Knobs.Logger {
		router.UseRouter(t.logged())
	}
	router.UseRouter(recover.New())
	if t.Knobs.BodyParsing {
		router.UseRouter(parsed)
	}
	// Iris asks these only where a handler has set the status and no body.
	if t.Knobs.NotFound == knobs.Contract {
		router.OnErrorCode(iris.StatusNotFound, func(ctx iris.Context) { t.write(ctx, app.NotFound()) })
	}
	if t.Knobs.ErrorHandler == knobs.Contract {
		router.OnErrorCode(iris.StatusInternalServerError, func(ctx iris.Context) { t.write(ctx, app.Panicked()) })
	}
}
