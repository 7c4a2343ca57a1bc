// Package contracttest checks a target's handler against the contract that all
// Go targets share, in the target's own test binary and without a socket. What
// only one framework has is tested beside it.
package contracttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
)

// Check runs every agreed test on handler, from a target's own folder.
func Check(t *testing.T, handler http.Handler) {
	t.Run("answers", func(t *testing.T) { answers(t, handler) })
	t.Run("record count", func(t *testing.T) { recordCount(t, handler) })
	t.Run("unknown paths", func(t *testing.T) { unknownPaths(t, handler) })
	t.Run("runtime metrics", func(t *testing.T) { runtimeMetrics(t, handler) })
}

func get(t *testing.T, handler http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("not JSON: %v in %s", err, text)
	}
	return value
}

const badCount = `{"code":400,"msg":"n must be an integer from 1 to 1000","data":{}}`

// answers checks status, content type and body of the routes with an agreed answer.
func answers(t *testing.T, handler http.Handler) {
	contract, err := os.ReadFile("../../../scenarios/json-1.json")
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		path   string
		status int
		want   string
	}{
		{"/ping", http.StatusOK, `{"code":0,"msg":"ok","data":{}}`},
		{"/health", http.StatusOK, `{"status":"ok"}`},
		{"/json/1", http.StatusOK, string(contract)},
		{"/json/0", http.StatusBadRequest, badCount},
		{"/json/-1", http.StatusBadRequest, badCount},
		{"/json/1001", http.StatusBadRequest, badCount},
		{"/json/99999999999999999999", http.StatusBadRequest, badCount},
		{"/json/1.5", http.StatusBadRequest, badCount},
		{"/json/abc", http.StatusBadRequest, badCount},
		{"/json/+1", http.StatusBadRequest, badCount},
		{"/json/01", http.StatusBadRequest, badCount},
		{"/json/%20", http.StatusBadRequest, badCount},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			answer := get(t, handler, c.path)
			if answer.Code != c.status {
				t.Errorf("status %d; want %d", answer.Code, c.status)
			}
			if got := answer.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
				t.Errorf("Content-Type %q; want application/json", got)
			}
			if got := decode(t, answer.Body.Bytes()); !reflect.DeepEqual(got, decode(t, []byte(c.want))) {
				t.Errorf("got %s; want %s", answer.Body, c.want)
			}
		})
	}
}

// recordCount checks that /json/{n} has 8n records.
func recordCount(t *testing.T, handler http.Handler) {
	for path, want := range map[string]int{"/json/1": 8, "/json/2": 16, "/json/1000": 8000} {
		var answer struct{ Data []json.RawMessage }
		body := get(t, handler, path).Body.Bytes()
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if got := len(answer.Data); got != want {
			t.Errorf("%s has %d records; want %d", path, got, want)
		}
	}
}

// unknownPaths checks that everything else is 404.
func unknownPaths(t *testing.T, handler http.Handler) {
	for _, path := range []string{"/", "/nope", "/json", "/json/1/2", "/ping/x", "/debug"} {
		if got := get(t, handler, path).Code; got != http.StatusNotFound {
			t.Errorf("%s: status %d; want 404", path, got)
		}
	}
}

// runtimeMetrics checks that the endpoint is mounted.
func runtimeMetrics(t *testing.T, handler http.Handler) {
	answer := get(t, handler, "/debug/runtime")
	if answer.Code != http.StatusOK {
		t.Fatalf("status %d; want 200", answer.Code)
	}
	readings, ok := decode(t, answer.Body.Bytes()).(map[string]any)
	if !ok {
		t.Fatalf("got %s; want an object", answer.Body)
	}
	if goroutines, ok := readings["/sched/goroutines:goroutines"].(float64); !ok || goroutines < 1 {
		t.Errorf("goroutines = %v; want 1 or more", readings["/sched/goroutines:goroutines"])
	}
}
