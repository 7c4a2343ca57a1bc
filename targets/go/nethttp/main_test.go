// Tests of the routes through HTTP, and of the answer to /json/1 against the
// contract file that prony itself checks before every trial.
package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
)

func get(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	router := newRouter()
	recorder := httptest.NewRecorder()
	router.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
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

func TestAnswers(t *testing.T) {
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
			answer := get(t, c.path)
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

func TestRecordCount(t *testing.T) {
	for path, want := range map[string]int{"/json/1": 8, "/json/2": 16, "/json/1000": 8000} {
		var answer struct{ Data []json.RawMessage }
		body := get(t, path).Body.Bytes()
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if got := len(answer.Data); got != want {
			t.Errorf("%s has %d records; want %d", path, got, want)
		}
	}
}

func TestUnknownPaths(t *testing.T) {
	for _, path := range []string{"/", "/nope", "/json", "/json/1/2", "/ping/x", "/debug"} {
		if got := get(t, path).Code; got != http.StatusNotFound {
			t.Errorf("%s: status %d; want 404", path, got)
		}
	}
}

func TestRuntimeMetricsAreMounted(t *testing.T) {
	answer := get(t, "/debug/runtime")
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
