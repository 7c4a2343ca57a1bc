// Package contracttest checks a target's handler against the contract of all
// targets (targets/contract/*.toml), in the target's own test binary, without a
// socket and with fakes in place of the services. What only one framework has
// is tested beside it.
package contracttest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/BurntSushi/toml"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/jsonengine"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
	"prony.dev/targets/common/upload"
)

// As seen from the folder of a target, where its tests run.
const folder = "../../contract"

var all = []string{
	"ping", "json", "health", "db", "db-queries", "db-scan", "file", "auth", "cache", "grpc", "middleware", "mixed", "upload",
}

// Compared are the routes that only the targets have which the studies of routers,
// layers and pages compare.
var Compared = []string{"hops", "param", "routes", "decode", "allocate", "complex"}

// Check runs every agreed test on what build makes, from a target's own folder,
// and those of routes that not every target has.
func Check(t *testing.T, build func(*app.App) http.Handler, more ...string) {
	handler := build(NewApp(t))
	if len(more) > 0 {
		t.Run("more", func(t *testing.T) { contractFiles(t, handler, more) })
		t.Run("many routes", func(t *testing.T) { manyRoutes(t, build) })
	}
	t.Run("contract", func(t *testing.T) { contractFiles(t, handler, all) })
	t.Run("record count", func(t *testing.T) { recordCount(t, handler) })
	t.Run("too long", func(t *testing.T) { tooLong(t, handler) })
	t.Run("unknown paths", func(t *testing.T) { unknownPaths(t, handler) })
	t.Run("runtime metrics", func(t *testing.T) { runtimeMetrics(t, handler) })
	t.Run("times", func(t *testing.T) { times(t, build) })
	t.Run("log", func(t *testing.T) { logLayer(t, build) })
	t.Run("engines", func(t *testing.T) { engines(t, build) })
	t.Run("switches", func(t *testing.T) { switches(t, build) })
	t.Run("full pool", func(t *testing.T) { fullPool(t, build) })
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

// request is one entry of a contract file; what this test does not know is an
// error, so that no expectation is passed over.
type request struct {
	Name     string            `toml:"name"`
	Method   string            `toml:"method"`
	Path     string            `toml:"path"`
	Headers  map[string]string `toml:"headers"`
	Body     string            `toml:"body"`
	BodyFile string            `toml:"body_file"`
	Expect   struct {
		Status     []int             `toml:"status"`
		Headers    map[string]string `toml:"headers"`
		JSON       string            `toml:"json"`
		JSONEquals map[string]any    `toml:"json_equals"`
		SHA256     string            `toml:"sha256"`
	} `toml:"expect"`
}

type file struct {
	Schema, Name, Description string
	Services                  []string
	Requests                  []request
}

// contractFiles asks every request of the named files and checks its answer.
func contractFiles(t *testing.T, handler http.Handler, names []string) {
	for _, name := range names {
		var f file
		known, err := toml.DecodeFile(filepath.Join(folder, name+".toml"), &f)
		if err != nil {
			t.Fatal(err)
		}
		if unknown := known.Undecoded(); len(unknown) > 0 || len(f.Requests) == 0 {
			t.Fatalf("%s: %d requests, and keys this test does not know: %v", name, len(f.Requests), unknown)
		}
		for _, r := range f.Requests {
			t.Run(name+" "+r.Name, func(t *testing.T) { ask(t, handler, r) })
		}
	}
}

func ask(t *testing.T, handler http.Handler, r request) {
	body := []byte(r.Body)
	if r.BodyFile != "" {
		var err error
		if body, err = os.ReadFile(filepath.Join(folder, r.BodyFile)); err != nil {
			t.Fatal(err)
		}
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	question := httptest.NewRequest(method, r.Path, bytes.NewReader(body))
	for name, value := range r.Headers {
		question.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, question)
	compare(t, r, answer)
}

func compare(t *testing.T, r request, answer *httptest.ResponseRecorder) {
	if !slices.Contains(r.Expect.Status, answer.Code) {
		t.Errorf("status %d; want one of %v; %.200s", answer.Code, r.Expect.Status, answer.Body)
	}
	for name, want := range r.Expect.Headers {
		if got := answer.Header().Get(name); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q; want %s", name, got, want)
		}
	}
	if want := r.Expect.SHA256; want != "" {
		if sum := sha256.Sum256(answer.Body.Bytes()); hex.EncodeToString(sum[:]) != want {
			t.Errorf("another checksum of %d bytes", answer.Body.Len())
		}
	}
	if want := r.Expect.JSON; want != "" {
		if got := decode(t, answer.Body.Bytes()); !reflect.DeepEqual(got, decode(t, []byte(want))) {
			t.Errorf("got %s; want %s", answer.Body, want)
		}
	}
	for pointer, want := range r.Expect.JSONEquals {
		object, _ := decode(t, answer.Body.Bytes()).(map[string]any)
		got, _ := json.Marshal(object[strings.TrimPrefix(pointer, "/")])
		if wanted, _ := json.Marshal(want); string(got) != string(wanted) {
			t.Errorf("%s is %s; want %s", pointer, got, wanted)
		}
	}
}

// tooLong checks that a body beyond the limit is refused.
func tooLong(t *testing.T, handler http.Handler) {
	question := httptest.NewRequest(http.MethodPost, "/upload", bytes.NewReader(make([]byte, upload.Max+1)))
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, question)
	if answer.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d; want 413", answer.Code)
	}
}

// logLayer checks that one line is written for each answer behind a log layer,
// and none for others, or with the knob one for all.
func logLayer(t *testing.T, build func(*app.App) http.Handler) {
	paths := []string{"/middleware/0", "/middleware/1", "/middleware/2", "/ping"}
	for _, c := range []struct {
		logger bool
		want   []string
	}{{false, paths[1:3]}, {true, paths}} {
		a := NewApp(t)
		var log bytes.Buffer
		a.Log, a.Knobs.Logger = &log, c.logger
		handler := build(a)
		for _, path := range paths {
			get(t, handler, path)
		}
		lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
		if len(lines) != len(c.want) {
			t.Fatalf("logger %t: %d lines; want %d:\n%s", c.logger, len(lines), len(c.want), &log)
		}
		for k, path := range c.want {
			status := "200"
			if path == "/middleware/2" {
				status = "401"
			}
			if !strings.Contains(lines[k], path) || !strings.Contains(lines[k], "GET") || !strings.Contains(lines[k], status) {
				t.Errorf("logger %t: line %q lacks GET, %s or %s", c.logger, lines[k], path, status)
			}
		}
	}
}

// engines checks that every engine and the pool give the right answers.
func engines(t *testing.T, build func(*app.App) http.Handler) {
	for _, name := range []string{"std", "ffjson", "easyjson", "sonic", "goccy"} {
		for _, pooled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s pooled %t", name, pooled), func(t *testing.T) {
				a := NewApp(t)
				engine, err := jsonengine.New(name, pooled)
				if err != nil {
					t.Skip(err)
				}
				a.JSON = engine
				contractFiles(t, build(a), []string{"ping", "json", "health", "auth"})
			})
		}
	}
}

// switches checks the knobs that change who answers, and the worker pool.
func switches(t *testing.T, build func(*app.App) http.Handler) {
	a := NewApp(t)
	a.Knobs.NotFound, a.Knobs.ErrorHandler, a.Knobs.BodyParsing = knobs.Contract, knobs.Contract, true
	a.Workers = serve.NewWorkers(2, knobs.NoLimit)
	handler := build(a)
	answer := get(t, handler, "/nope")
	if got := decode(t, answer.Body.Bytes()); answer.Code != http.StatusNotFound || !reflect.DeepEqual(got, envelope(404, "no such path")) {
		t.Errorf("%d %v; want the envelope of 404", answer.Code, got)
	}
	contractFiles(t, handler, []string{"ping", "upload", "db"})
}

// fullPool checks that a request for which no goroutine is free is answered with
// 503, and what is read of the target itself all the same.
func fullPool(t *testing.T, build func(*app.App) http.Handler) {
	a := NewApp(t)
	a.Workers = serve.NewWorkers(1, 0)
	handler := build(a)
	release, busy := make(chan struct{}), make(chan struct{})
	var taken sync.WaitGroup
	taken.Go(func() {
		// The goroutine itself may begin a little later than it was started.
		for !a.Workers.Run(func() { close(busy); <-release }) {
			runtime.Gosched()
		}
	})
	<-busy
	answer := get(t, handler, "/ping")
	if got := decode(t, answer.Body.Bytes()); answer.Code != http.StatusServiceUnavailable || !reflect.DeepEqual(got, envelope(503, "no goroutine of the pool is free")) {
		t.Errorf("%d %v; want the envelope of 503", answer.Code, got)
	}
	if answer := get(t, handler, "/debug/runtime"); answer.Code != http.StatusOK {
		t.Errorf("/debug/runtime: %d; want 200 though the pool is full", answer.Code)
	}
	close(release)
	taken.Wait()
}

func envelope(code int, msg string) any {
	return map[string]any{"code": float64(code), "msg": msg, "data": map[string]any{}}
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

// manyRoutes checks that the last of many routes is found, and none beyond.
func manyRoutes(t *testing.T, build func(*app.App) http.Handler) {
	a := NewApp(t)
	a.Knobs.Routes = 1000
	handler := build(a)
	for path, want := range map[string]int{"/routes/0/x": 200, "/routes/999/x": 200, "/routes/1000/x": 404, "/routes/7": 404} {
		if got := get(t, handler, path).Code; got != want {
			t.Errorf("%s: status %d; want %d", path, got, want)
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

// times checks that the histogram is there with its knob only, and has every
// request but prony's.
func times(t *testing.T, build func(*app.App) http.Handler) {
	if got := get(t, build(NewApp(t)), "/debug/requests").Code; got != http.StatusNotFound {
		t.Errorf("without the knob: status %d; want 404", got)
	}
	a := NewApp(t)
	a.Served.Times = new(runtimestats.Times)
	handler := build(a)
	for _, path := range []string{"/ping", "/nope", "/debug/runtime"} {
		get(t, handler, path)
	}
	if text := get(t, handler, "/debug/requests").Body.String(); !strings.Contains(text, "http_request_duration_seconds_count 2\n") {
		t.Errorf("want 2 requests timed, got\n%s", text)
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
	before, ok := readings["requests"].(float64)
	if !ok {
		t.Fatalf("requests = %v; want a count, which the check of every trial needs", readings["requests"])
	}
	for _, path := range []string{"/ping", "/nope", "/json/x"} {
		get(t, handler, path)
	}
	after, _ := decode(t, get(t, handler, "/debug/runtime").Body.Bytes()).(map[string]any)
	if counted := after["requests"].(float64) - before; counted != 3 {
		t.Errorf("%g of 3 requests were counted", counted)
	}
	if goroutines, ok := readings["/sched/goroutines:goroutines"].(float64); !ok || goroutines < 1 {
		t.Errorf("goroutines = %v; want 1 or more", readings["/sched/goroutines:goroutines"])
	}
}
