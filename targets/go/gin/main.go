// Gin as a target: release mode, panic recovery, no request log.
package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/hops"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/routes"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
)

func main() {
	a := app.Start()
	// GIN_MODE decides when it is set. Gin's own default is debug mode, which is
	// never what a load test wants.
	if os.Getenv(gin.EnvGinMode) == "" && !a.Knobs.StartupLog {
		gin.SetMode(gin.ReleaseMode)
	}
	router, err := newRouter(a)
	if err != nil {
		serve.Fail(err)
	}
	serve.Main(serve.HTTP(around(a, router), a.Knobs))
}

// around has what is not Gin's before it: the count of requests, and the workers.
func around(a *app.App, router http.Handler) http.Handler {
	return a.Served.Wrap(a.Workers.Wrap(router))
}

// target has the handlers as methods, with the App they share.
type target struct {
	*app.App
	chains *hops.Chains
}

func newRouter(a *app.App) (*gin.Engine, error) {
	t := target{a, hops.New(empty)}
	router := gin.New()
	// No proxy stands in front, so forwarding headers are not to be believed.
	if err := router.SetTrustedProxies(nil); err != nil {
		return nil, fmt.Errorf("trusting no proxy: %w", err)
	}
	t.around(router)
	router.GET("/ping", t.ping)
	router.GET("/health", t.health)
	router.GET("/json/:n", t.records)
	router.GET("/db/:id", t.user)
	router.GET("/db/scan", t.scan)
	router.GET("/file/:name", t.file)
	router.GET("/auth", t.auth)
	router.GET("/cache/:key", t.cache)
	router.GET("/grpc/:n", t.remote)
	router.GET("/mixed", t.mixed)
	router.POST("/upload", t.upload)
	router.GET("/hops/:k", t.hops)
	router.GET("/param/:id", t.param)
	router.POST("/decode", t.decode)
	router.GET("/complex/:id", t.complex)
	router.GET("/allocate/:n", t.allocate)
	routes.Each(a.Knobs.Routes, func(number int) { router.GET(routes.Path(number, ":id"), t.numbered(number)) })
	router.GET("/debug/runtime", gin.WrapH(runtimestats.HandlerOf(t.Databases, &t.Served)))
	if t.Served.Times != nil {
		router.GET("/debug/requests", gin.WrapH(t.Served.Times))
	}

	log := gin.LoggerWithWriter(a.Log)
	if a.Knobs.Logger {
		log = func(*gin.Context) {} // every route is logged already
	}
	router.GET("/middleware/:k", t.layers)
	router.GET("/middleware/1", log, t.behind(1))
	router.GET("/middleware/2", log, t.authorized, t.behind(2))
	router.GET("/middleware/3", log, t.authorized, traced, t.behind(3))
	return router, nil
}

// around puts the layers of the knobs before all routes.
func (t target) around(router *gin.Engine) {
	if t.Knobs.Logger {
		router.Use(gin.LoggerWithWriter(t.Log))
	}
	if t.Knobs.ErrorHandler == knobs.Contract {
		router.Use(gin.CustomRecovery(func(c *gin.Context, _ any) {
			t.write(c, app.Panicked())
			c.Abort()
		}))
	} else {
		router.Use(gin.Recovery())
	}
	if t.Knobs.BodyParsing {
		router.Use(parsed)
	}
	if t.Knobs.NotFound == knobs.Contract {
		router.NoRoute(func(c *gin.Context) { t.write(c, app.NotFound()) })
	}
}

// parsed parses query and form before every handler but /upload, whose body is
// its own.
func parsed(c *gin.Context) {
	if c.FullPath() != "/upload" {
		// A bad form is the affair of who uses it.
		_ = c.Request.ParseForm()
	}
}
