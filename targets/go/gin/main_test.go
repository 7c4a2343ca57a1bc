// Tests of the routes without a socket: the contract that all Go targets share,
// and what Gin does with a panic.
package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/contracttest"
	"prony.dev/targets/common/knobs"
)

func TestContract(t *testing.T) {
	contracttest.Check(t, func(a *app.App) http.Handler { return around(a, router(t, a)) }, contracttest.Compared...)
}

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	gin.DefaultErrorWriter = io.Discard // stack traces of expected panics
	os.Exit(m.Run())
}

func router(t *testing.T, a *app.App) *gin.Engine {
	t.Helper()
	router, err := newRouter(a)
	if err != nil {
		t.Fatal(err)
	}
	return router
}

// A panic in a handler must cost one answer, not the process.
func TestPanicIsAnswered(t *testing.T) {
	for handler, want := range map[string]string{knobs.Framework: "", knobs.Contract: `"code":500`} {
		a := contracttest.NewApp(t)
		a.Knobs.ErrorHandler = handler
		router := router(t, a)
		router.GET("/panic", func(*gin.Context) { panic("planted") })
		recorder := httptest.NewRecorder()
		router.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/panic", nil))
		if body := recorder.Body.String(); recorder.Code != http.StatusInternalServerError || !strings.Contains(body, want) ||
			(want == "") != (body == "") {
			t.Errorf("%s: %d %s", handler, recorder.Code, body)
		}
	}
}

func TestDebugModeListsTheRoutes(t *testing.T) {
	var out bytes.Buffer
	before := gin.DefaultWriter
	gin.DefaultWriter = &out
	gin.SetMode(gin.DebugMode)
	defer func() {
		gin.DefaultWriter = before
		gin.SetMode(gin.TestMode)
	}()
	router(t, contracttest.NewApp(t))
	if !strings.Contains(out.String(), "/json/:n") {
		t.Errorf("got %q; want the routes", &out)
	}
}
