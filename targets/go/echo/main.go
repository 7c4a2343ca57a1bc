// Echo as a target: panic recovery, no request log.
package main

import (
	"net"
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/hops"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/routes"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
)

func main() {
	a := app.Start()
	e := newRouter(a)
	serve.Main(server{serve.HTTP(e, a.Knobs), e})
}

// server is the shared one, started by Echo, which has its say at the start.
type server struct {
	*http.Server
	echo *echo.Echo
}

func (s server) Serve(listener net.Listener) error {
	s.echo.Listener = listener
	return s.echo.StartServer(s.Server)
}

// target has the handlers as methods, with the App they share.
type target struct {
	*app.App
	chains *hops.Chains
}

func newRouter(a *app.App) *echo.Echo {
	t := target{a, hops.New(empty)}
	e := echo.New()
	e.HideBanner = !a.Knobs.StartupLog
	e.HidePort = !a.Knobs.StartupLog
	e.JSONSerializer = serializer{a.JSON}
	t.around(e)
	e.GET("/ping", t.ping)
	e.GET("/health", t.health)
	e.GET("/json/:n", t.records)
	e.GET("/db/:id", t.user)
	e.GET("/db/scan", t.scan)
	e.GET("/file/:name", t.file)
	e.GET("/auth", t.auth)
	e.GET("/cache/:key", t.cache)
	e.GET("/grpc/:n", t.remote)
	e.GET("/mixed", t.mixed)
	e.POST("/upload", t.upload)
	e.GET("/hops/:k", t.hops)
	e.GET("/param/:id", t.param)
	e.POST("/decode", t.decode)
	e.GET("/complex/:id", t.complex)
	e.GET("/allocate/:n", t.allocate)
	routes.Each(a.Knobs.Routes, func(number int) { e.GET(routes.Path(number, ":id"), t.numbered(number)) })
	e.GET("/debug/runtime", echo.WrapHandler(runtimestats.HandlerOf(t.Databases, &t.Served)))
	if t.Served.Times != nil {
		e.GET("/debug/requests", echo.WrapHandler(t.Served.Times))
	}
	// Echo's last parameter takes the rest of the path, slashes too: without
	// this, /json/1/2 is a bad n (400) instead of an unknown path (404).
	for _, path := range []string{"/json/:n/*", "/db/:id/*", "/file/:name/*", "/cache/:key/*", "/grpc/:n/*", "/middleware/:k/*", "/hops/:k/*", "/param/:id/*", "/allocate/:n/*", "/complex/:id/*"} {
		e.RouteNotFound(path, t.notFound)
	}

	log := t.logged()
	if a.Knobs.Logger {
		log = func(next echo.HandlerFunc) echo.HandlerFunc { return next } // every route is logged already
	}
	e.GET("/middleware/:k", t.layers)
	e.GET("/middleware/1", t.behind(1), log)
	e.GET("/middleware/2", t.behind(2), log, t.authorized)
	e.GET("/middleware/3", t.behind(3), log, t.authorized, traced)
	return e
}

// around puts the layers of the knobs before all routes.
func (t target) around(e *echo.Echo) {
	e.Pre(t.counted)
	if t.Workers != nil {
		e.Pre(t.pooled)
	}
	if t.Knobs.Logger {
		e.Use(t.logged())
	}
	e.Use(middleware.Recover())
	if t.Knobs.BodyParsing {
		e.Use(parsed)
	}
	if t.Knobs.NotFound == knobs.Contract {
		e.RouteNotFound("/*", t.notFound)
	}
	if t.Knobs.ErrorHandler == knobs.Contract {
		byDefault := e.HTTPErrorHandler
		e.HTTPErrorHandler = func(err error, c echo.Context) {
			if _, known := err.(*echo.HTTPError); known || c.Response().Committed {
				byDefault(err, c)
				return
			}
			// A failed write means that the client has gone.
			_ = t.write(c, app.Panicked())
		}
	}
}

func (t target) notFound(c echo.Context) error {
	if t.Knobs.NotFound == knobs.Contract {
		return t.write(c, app.NotFound())
	}
	return echo.ErrNotFound
}
