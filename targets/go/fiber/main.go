// Fiber as a target: fasthttp below it, panic recovery, no request log.
package main

import (
	"errors"

	"github.com/gofiber/fiber/v3"
	recoverer "github.com/gofiber/fiber/v3/middleware/recover"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/profiling"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
	"prony.dev/targets/common/upload"
)

func main() {
	a := app.Start()
	serve.Main(newServer(newRouter(a), a.Knobs))
}

// target has the handlers as methods, with the App they share.
type target struct{ *app.App }

func newRouter(a *app.App) *fiber.App {
	t := target{a}
	router := fiber.New(t.config())
	t.around(router)
	router.Get("/ping", t.ping)
	router.Get("/health", t.health)
	router.Get("/json/:n", t.records)
	// Fiber takes the first route that fits, so the fixed paths come first.
	router.Get("/db/scan", t.scan)
	router.Get("/db/:id", t.user)
	router.Get("/file/:name", t.file)
	router.Get("/auth", t.auth)
	router.Get("/cache/:key", t.cache)
	router.Get("/grpc/:n", t.remote)
	router.Get("/mixed", t.mixed)
	router.Post("/upload", t.upload)
	router.Get("/debug/runtime", runtimestats.HandlerOf(t.Databases, &t.Served))
	if t.Served.Times != nil {
		router.Get("/debug/requests", t.Served.Times)
	}
	if a.Knobs.Pprof {
		router.Get("/debug/pprof/*", profiling.Handler())
	}

	log := t.logged()
	if a.Knobs.Logger {
		log = next // every route is logged already
	}
	router.Get("/middleware/1", log, t.behind(1))
	router.Get("/middleware/2", log, t.authorized, t.behind(2))
	router.Get("/middleware/3", log, t.authorized, traced, t.behind(3))
	router.Get("/middleware/:k", t.layers)
	if a.Knobs.NotFound == knobs.Contract {
		router.Use(func(c fiber.Ctx) error { return t.write(c, app.NotFound()) })
	}
	return router
}

func (t target) config() fiber.Config {
	return fiber.Config{
		// The contract has other paths as 404: neither /PING nor /ping/ is /ping.
		CaseSensitive: true,
		StrictRouting: true,
		BodyLimit:     upload.Max,
		// A parsed form would be put together again for its checksum, not byte for byte.
		DisablePreParseMultipartForm: true,
		ReadTimeout:                  t.Knobs.ReadTimeout,
		WriteTimeout:                 t.Knobs.WriteTimeout,
		IdleTimeout:                  t.Knobs.KeepAliveTimeout,
		DisableKeepalive:             !t.Knobs.KeepAlive,
		JSONEncoder:                  t.JSON.Marshal,
		ErrorHandler:                 t.failed,
	}
}

// around puts the layers of the knobs before all routes.
func (t target) around(router *fiber.App) {
	router.Use(t.counted)
	if t.Knobs.Logger {
		router.Use(t.logged())
	}
	router.Use(recoverer.New())
	if t.Workers != nil {
		router.Use(t.pooled)
	}
	if t.Knobs.BodyParsing {
		router.Use(parsed)
	}
}

// failed answers where no handler did: Fiber's own way, but for a body that is
// too long, which fasthttp refuses before any handler and the contract knows.
func (t target) failed(c fiber.Ctx, err error) error {
	if errors.Is(err, fiber.ErrRequestEntityTooLarge) {
		return t.write(c, contract.Fail(fiber.StatusRequestEntityTooLarge, upload.ErrTooLong.Error()))
	}
	if known := new(fiber.Error); t.Knobs.ErrorHandler == knobs.Contract && !errors.As(err, &known) {
		return t.write(c, app.Panicked())
	}
	return fiber.DefaultErrorHandler(c, err)
}
