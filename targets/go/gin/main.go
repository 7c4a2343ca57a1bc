// Gin as a target: release mode, panic recovery, no request log, JSON through
// c.JSON.
package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
)

func main() {
	// GIN_MODE decides when it is set. Gin's own default is debug mode, which is
	// never what a load test wants.
	if os.Getenv(gin.EnvGinMode) == "" {
		gin.SetMode(gin.ReleaseMode)
	}
	router, err := newRouter()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	serve.Main(router)
}

func newRouter() (*gin.Engine, error) {
	router := gin.New()
	router.Use(gin.Recovery())
	// No proxy stands in front, so forwarding headers are not to be believed.
	if err := router.SetTrustedProxies(nil); err != nil {
		return nil, fmt.Errorf("trusting no proxy: %w", err)
	}
	router.GET("/ping", ping)
	router.GET("/json/:n", records)
	router.GET("/health", health)
	router.GET("/debug/runtime", gin.WrapH(runtimestats.Handler()))
	return router, nil
}

func ping(c *gin.Context) {
	c.JSON(http.StatusOK, contract.OK(contract.Empty{}))
}

func records(c *gin.Context) {
	n, ok := contract.ParseCount(c.Param("n"))
	if !ok {
		c.JSON(http.StatusBadRequest, contract.BadCount())
		return
	}
	c.JSON(http.StatusOK, contract.OK(contract.Records(n)))
}

func health(c *gin.Context) {
	c.JSON(http.StatusOK, contract.Health{Status: "ok"})
}
