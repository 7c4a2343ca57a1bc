// The helper against a real prony, which loads a server of this process.
package prony

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// said is a TB that keeps what it is told.
type said struct {
	*testing.T
	what string
}

func (s *said) Fatalf(format string, args ...any) { s.what = "fatal: " + fmt.Sprintf(format, args...) }
func (s *said) Errorf(format string, args ...any) { s.what = "error: " + fmt.Sprintf(format, args...) }
func (s *said) Skipf(format string, args ...any)  { s.what = "skip: " + fmt.Sprintf(format, args...) }

// loaded is the result of 200 requests to a server that takes a time and fails for a path.
func loaded(t *testing.T, path string) (*Result, *said) {
	t.Helper()
	program := os.Getenv("PRONY")
	if program == "" {
		program = "prony"
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Skip("there is no prony on PATH, and PRONY names none: `make test-dist` builds it")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/fails" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	tb := &said{T: t}
	result := Load(tb, server.URL+path, "-n", "200", "-c", "2", "--errors-ok")
	if result == nil {
		t.Fatal(tb.what)
	}
	return result, tb
}

func TestALoadIsCounted(t *testing.T) {
	result, _ := loaded(t, "/")
	if result.Requests.Scheduled != 200 || result.Requests.Completed != 200 {
		t.Errorf("%+v", result.Requests)
	}
	if p50 := result.Latency.Response.P50; p50 == nil || *p50 <= 0 {
		t.Errorf("p50 %v", p50)
	}
}

func TestALimitThatDoesNotHoldIsAnError(t *testing.T) {
	result, tb := loaded(t, "/")
	// A busy host voids the numbers, which is said before anything else.
	result.Validity.Ok = true
	result.P50Below(time.Nanosecond)
	if !strings.HasPrefix(tb.what, "error: p50 is ") {
		t.Error(tb.what)
	}
	tb.what = ""
	result.P50Below(time.Minute)
	if tb.what != "" {
		t.Error(tb.what)
	}
}

func TestVoidNumbersSkip(t *testing.T) {
	result, tb := loaded(t, "/")
	busy := Gate{}
	busy.Text.Text = "the host was busy"
	result.Validity.Ok, result.Validity.Reasons = false, []Gate{busy}
	result.P99Below(time.Minute)
	if tb.what != "skip: void: [the host was busy]" {
		t.Error(tb.what)
	}
}

func TestFailuresAreCounted(t *testing.T) {
	result, tb := loaded(t, "/fails")
	result.ErrorsBelow(0.01)
	if !strings.HasPrefix(tb.what, "error: 100.00 %") {
		t.Error(tb.what)
	}
}

func TestARefusalSaysWhy(t *testing.T) {
	_, _ = loaded(t, "/")
	tb := &said{T: t}
	if Load(tb, "http://127.0.0.1:1/", "--no-such-option"); !strings.Contains(tb.what, "--no-such-option") {
		t.Error(tb.what)
	}
}
