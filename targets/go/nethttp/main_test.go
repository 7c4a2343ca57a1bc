// Tests of the routes without a socket: the contract that all Go targets share,
// and the answer after a panic.
package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"prony.dev/targets/common/contracttest"
)

func TestContract(t *testing.T) {
	contracttest.Check(t, newRouter)
}

func TestPanicIsAnsweredWithTheKnob(t *testing.T) {
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // the message is expected
	defer slog.SetDefault(before)
	handler := target{contracttest.NewApp(t)}.recovered(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("planted") }))
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", nil))
	if recorder.Code != http.StatusInternalServerError {
		t.Errorf("status %d; want 500", recorder.Code)
	}
}
