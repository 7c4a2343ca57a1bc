// Echo as a target: panic recovery, no request log, JSON through c.JSON.
package main

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
)

func main() {
	serve.Main(newRouter())
}

func newRouter() *echo.Echo {
	e := echo.New()
	// Echo is served as a handler, so it prints neither today. Set all the same:
	// stderr has one line of its own, whoever starts Echo.
	e.HideBanner = true
	e.HidePort = true
	e.Use(middleware.Recover())
	e.GET("/ping", ping)
	e.GET("/json/:n", records)
	// Echo's last parameter takes the rest of the path, slashes too: without
	// this, /json/1/2 is a bad n (400) instead of an unknown path (404).
	e.RouteNotFound("/json/:n/*", echo.NotFoundHandler)
	e.GET("/health", health)
	e.GET("/debug/runtime", echo.WrapHandler(runtimestats.Handler()))
	return e
}

func ping(c echo.Context) error {
	return c.JSON(http.StatusOK, contract.OK(contract.Empty{}))
}

func records(c echo.Context) error {
	n, ok := contract.ParseCount(c.Param("n"))
	if !ok {
		return c.JSON(http.StatusBadRequest, contract.BadCount())
	}
	return c.JSON(http.StatusOK, contract.OK(contract.Records(n)))
}

func health(c echo.Context) error {
	return c.JSON(http.StatusOK, contract.Health{Status: "ok"})
}
