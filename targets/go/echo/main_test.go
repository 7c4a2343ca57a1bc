// Tests of the routes without a socket: the contract that all Go targets share,
// and what Echo does with a panic.
package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"prony.dev/targets/common/contracttest"
)

func TestContract(t *testing.T) {
	contracttest.Check(t, newRouter())
}

// A panic in a handler must cost one answer, not the process.
func TestPanicIsAnswered(t *testing.T) {
	router := newRouter()
	router.Logger.SetOutput(io.Discard) // the stack trace is expected
	router.GET("/panic", func(echo.Context) error { panic("on purpose") })
	recorder := httptest.NewRecorder()
	router.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/panic", nil))
	if recorder.Code != http.StatusInternalServerError {
		t.Errorf("status %d; want 500", recorder.Code)
	}
}
