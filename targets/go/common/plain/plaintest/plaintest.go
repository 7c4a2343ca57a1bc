// Package plaintest checks that a handler answers the routes of package plain as
// the contract says, in the target's own test binary and without a socket.
package plaintest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const badCount = `{"code":400,"msg":"n must be an integer from 1 to 1000","data":{}}`

// Check runs every test on handler. repository is the way from the folder of the
// test to the root of the repository, where the agreed records are.
func Check(t *testing.T, handler http.Handler, repository string) {
	t.Helper()
	records, err := os.ReadFile(filepath.Join(repository, "scenarios/json-1.json"))
	if err != nil {
		t.Fatal(err)
	}
	answers(t, handler, string(records))
	counts(t, handler)
	for _, path := range []string{"/", "/nope", "/json", "/json/1/2", "/ping/x", "/debug"} {
		if got := get(handler, path).Code; got != http.StatusNotFound {
			t.Errorf("%s: status %d; want 404", path, got)
		}
	}
	if answer := get(handler, "/debug/runtime"); !strings.Contains(answer.Body.String(), `"/sched/goroutines:goroutines":`) {
		t.Errorf("/debug/runtime answers %d %s", answer.Code, answer.Body)
	}
}

func get(handler http.Handler, path string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder
}

func answers(t *testing.T, handler http.Handler, records string) {
	t.Helper()
	cases := []struct {
		path   string
		status int
		want   string
	}{
		{"/ping", http.StatusOK, `{"code":0,"msg":"ok","data":{}}`},
		{"/health", http.StatusOK, `{"status":"ok"}`},
		{"/json/1", http.StatusOK, records},
		{"/json/0", http.StatusBadRequest, badCount},
		{"/json/1001", http.StatusBadRequest, badCount},
		{"/json/99999999999999999999", http.StatusBadRequest, badCount},
		{"/json/+1", http.StatusBadRequest, badCount},
		{"/json/01", http.StatusBadRequest, badCount},
		{"/json/x", http.StatusBadRequest, badCount},
	}
	for _, c := range cases {
		answer := get(handler, c.path)
		if answer.Code != c.status || answer.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: status %d, headers %v; want %d and JSON", c.path, answer.Code, answer.Header(), c.status)
		}
		if !reflect.DeepEqual(decode(t, answer.Body.String()), decode(t, c.want)) {
			t.Errorf("%s: got %s; want %s", c.path, answer.Body, c.want)
		}
	}
}

// counts checks that /json/{n} has 8n records.
func counts(t *testing.T, handler http.Handler) {
	t.Helper()
	for path, want := range map[string]int{"/json/2": 16, "/json/1000": 8000} {
		var answer struct{ Data []json.RawMessage }
		if err := json.Unmarshal(get(handler, path).Body.Bytes(), &answer); err != nil || len(answer.Data) != want {
			t.Errorf("%s has %d records, %v; want %d", path, len(answer.Data), err, want)
		}
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("not JSON: %v in %s", err, text)
	}
	return value
}
