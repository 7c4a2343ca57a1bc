// Tests of the routes without a socket: the contract that all Go targets share,
// what Iris does with a panic, and what it says at its start.
package main

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kataras/iris/v12"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/contracttest"
	"prony.dev/targets/common/knobs"
)

func router(t *testing.T, a *app.App) *iris.Application {
	t.Helper()
	router, err := newRouter(a)
	if err != nil {
		t.Fatal(err)
	}
	return router
}

func TestContract(t *testing.T) {
	contracttest.Check(t, func(a *app.App) http.Handler { return newServer(router(t, a), a).Handler })
}

// A panic in a handler must cost one answer, not the process.
func TestPanicIsAnswered(t *testing.T) {
	for handler, want := range map[string]string{knobs.Framework: "Internal Server Error", knobs.Contract: `"code":500`} {
		a := contracttest.NewApp(t)
		a.Knobs.ErrorHandler = handler
		router := router(t, a)
		router.Logger().SetLevel("disable") // the warning is expected
		router.Get("/panic", func(iris.Context) { panic("planted") })
		if err := router.RefreshRouter(); err != nil {
			t.Fatal(err)
		}
		recorder := httptest.NewRecorder()
		router.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/panic", nil))
		if body := recorder.Body.String(); recorder.Code != http.StatusInternalServerError || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", handler, recorder.Code, body)
		}
	}
}

// lines is where Iris writes what it says, from a goroutine of its own.
type lines chan string

func (l lines) Write(text []byte) (int, error) {
	l <- string(text)
	return len(text), nil
}

// served starts the server on a listener that is closed, so that it ends at once.
func served(t *testing.T, a *app.App) lines {
	t.Helper()
	said := make(lines, 16)
	router := router(t, a)
	router.Logger().SetOutput(said)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := newServer(router, a).Serve(listener); !errors.Is(err, net.ErrClosed) {
		t.Errorf("on a closed listener: %v", err)
	}
	return said
}

func TestStartupLogKnob(t *testing.T) {
	a := contracttest.NewApp(t)
	if settings, ok := router(t, a).ConfigurationReadOnly().(*iris.Configuration); !ok || !settings.DisableStartupLog {
		t.Error("without the knob, Iris speaks at its start")
	}
	a.Knobs.StartupLog = true
	said := served(t, a)
	for limit := time.After(10 * time.Second); ; {
		select {
		case line := <-said:
			if strings.Contains(line, "Now listening on: http://127.0.0.1:") {
				return
			}
		case <-limit:
			t.Fatal("with the knob, Iris says nothing")
		}
	}
}
