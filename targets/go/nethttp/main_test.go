// Tests of the routes without a socket: the contract that all Go targets share,
// and the answer after a panic.
package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/contracttest"
	"prony.dev/targets/common/knobs"
)

func TestContract(t *testing.T) {
	contracttest.Check(t, newRouter, contracttest.Compared...)
}

func TestAListOfRoutesAnswersAsTheTree(t *testing.T) {
	contracttest.Check(t, func(a *app.App) http.Handler {
		a.Knobs.Router = knobs.List
		return newRouter(a)
	}, "routes")
}

func TestPanicIsAnsweredWithTheKnob(t *testing.T) {
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // the message is expected
	defer slog.SetDefault(before)
	handler := target{App: contracttest.NewApp(t)}.recovered(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("planted") }))
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
	if recorder.Code != http.StatusInternalServerError {
		t.Errorf("status %d; want 500", recorder.Code)
	}
}
