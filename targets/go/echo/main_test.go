// Tests of the routes without a socket: the contract that all Go targets share,
// what Echo does with a panic, and what it says at its start.
package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/contracttest"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/serve"
)

func TestContract(t *testing.T) {
	contracttest.Check(t, func(a *app.App) http.Handler { return newRouter(a) }, contracttest.Compared...)
}

// A panic in a handler must cost one answer, not the process.
func TestPanicIsAnswered(t *testing.T) {
	for handler, want := range map[string]string{knobs.Framework: `"message"`, knobs.Contract: `"code":500`} {
		a := contracttest.NewApp(t)
		a.Knobs.ErrorHandler = handler
		router := newRouter(a)
		router.Logger.SetOutput(io.Discard) // the stack trace is expected
		router.GET("/panic", func(echo.Context) error { panic("planted") })
		recorder := httptest.NewRecorder()
		router.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/panic", nil))
		if body := recorder.Body.String(); recorder.Code != http.StatusInternalServerError || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", handler, recorder.Code, body)
		}
	}
}

func TestStartupLogKnob(t *testing.T) {
	for _, on := range []bool{false, true} {
		a := contracttest.NewApp(t)
		a.Knobs.StartupLog = on
		e := newRouter(a)
		var out bytes.Buffer
		e.Logger.SetOutput(&out)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		// On a closed listener Serve says what it says and ends.
		listener.Close()
		if err := (server{serve.HTTP(e, a.Knobs), e}).Serve(listener); err == nil {
			t.Error("served on a closed listener")
		}
		if said := strings.Contains(out.String(), "http server started"); said != on {
			t.Errorf("knob %t: said %q", on, &out)
		}
	}
}
