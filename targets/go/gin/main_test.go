// Tests of the routes without a socket: the contract that all Go targets share,
// and what Gin does with a panic.
package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/gin-gonic/gin"
	"prony.dev/targets/common/contracttest"
)

func TestContract(t *testing.T) {
	router, err := newRouter()
	if err != nil {
		t.Fatal(err)
	}
	contracttest.Check(t, router)
}

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	gin.DefaultErrorWriter = io.Discard // stack traces of expected panics
	os.Exit(m.Run())
}

// A panic in a handler must cost one answer, not the process.
func TestPanicIsAnswered(t *testing.T) {
	router, err := newRouter()
	if err != nil {
		t.Fatal(err)
	}
	router.GET("/panic", func(*gin.Context) { panic("on purpose") })
	recorder := httptest.NewRecorder()
	router.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/panic", nil))
	if recorder.Code != http.StatusInternalServerError {
		t.Errorf("status %d; want 500", recorder.Code)
	}
}
