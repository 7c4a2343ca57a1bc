// Tests of /work: one answer for all settings, and that each stage and each way
// to treat objects has the effect it is there for.
package main

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"prony.dev/targets/common/plain/plaintest"
)

// with reads settings from pairs of names and values, without a wait.
func with(t testing.TB, pairs ...string) settings {
	t.Helper()
	variables := map[string]string{"WAIT": "0s"}
	for k := 0; k < len(pairs); k += 2 {
		variables[pairs[k]] = pairs[k+1]
	}
	chosen, err := readSettings(func(name string) string { return variables[name] })
	if err != nil {
		t.Fatal(err)
	}
	return chosen
}

func get(handler http.Handler, path string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder
}

func TestContract(t *testing.T) {
	plaintest.Check(t, newRouter(with(t)), "../../..")
}

// The checksum was worked out with Python's zlib.crc32 over (k*31 >> 3) & 255.
const answerOfWork = `{"code":0,"msg":"ok","data":{"bytes":4096,"crc32":"5d93ae4e"}}`

func TestAllSettingsGiveOneAnswer(t *testing.T) {
	axes := map[string][]string{
		"STAGE":     {"naive", "cores", "pooled"},
		"QUEUE":     {"sync", "unbuffered", "10", "1000"},
		"LOCK":      {"none", "mutex", "rwmutex", "lockfree"},
		"STRUCTURE": {"table", "queue"},
		"OBJECTS":   {"none", "fresh", "pooled"},
	}
	combinations := [][]string{{}}
	for name, values := range axes {
		var longer [][]string
		for _, pairs := range combinations {
			for _, value := range values {
				longer = append(longer, append(append([]string{}, pairs...), name, value))
			}
		}
		combinations = longer
	}
	for _, pairs := range combinations {
		handler := newRouter(with(t, append(pairs, "WORKERS", "2")...))
		// Twice, so that pooled memory has been used before.
		for range 2 {
			answer := get(handler, "/work")
			if answer.Code != http.StatusOK || answer.Body.String() != answerOfWork ||
				answer.Header().Get("Content-Type") != "application/json" {
				t.Fatalf("%v: got %d %v %s", pairs, answer.Code, answer.Header(), answer.Body)
			}
		}
	}
}

// The file that prony asks targets must agree with what is tested here.
func TestContractFileHasTheAnswer(t *testing.T) {
	for _, path := range []string{"../../contract/work.toml", "../../../scenarios/work.toml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), answerOfWork) {
			t.Errorf("%s lacks %s", path, answerOfWork)
		}
	}
}

func TestStagesWaitAsPublished(t *testing.T) {
	for stage, want := range map[string]time.Duration{"naive": naiveWait, "cores": naiveWait, "pooled": 0} {
		handler := newWorkHandler(with(t, "STAGE", stage, "WAIT", ""))
		var slept time.Duration
		handler.sleep = func(wait time.Duration) { slept += wait }
		get(handler, "/work")
		if slept != want {
			t.Errorf("%s waits %s; want %s", stage, slept, want)
		}
	}
	handler := newWorkHandler(with(t, "STAGE", "pooled", "WAIT", "3ms"))
	var slept time.Duration
	handler.sleep = func(wait time.Duration) { slept += wait }
	get(handler, "/work")
	if slept != 3*time.Millisecond {
		t.Errorf("WAIT=3ms waits %s", slept)
	}
}

// Over a real connection: only the stage naive has it closed.
func TestOnlyNaiveClosesConnections(t *testing.T) {
	for stage, closes := range map[string]bool{"naive": true, "cores": false, "pooled": false} {
		server := httptest.NewServer(newRouter(with(t, "STAGE", stage)))
		answer, err := server.Client().Get(server.URL + "/ping")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.Close != closes {
			t.Errorf("%s: the connection closes: %t; want %t", stage, answer.Close, closes)
		}
		server.Close()
	}
}

func TestOnlyNaiveUsesOneCore(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	for _, c := range []struct {
		stage, variable string
		want            int
	}{{"cores", "", 3}, {"pooled", "", 3}, {"naive", "3", 3}, {"naive", "", 1}} {
		t.Setenv("GOMAXPROCS", c.variable)
		with(t, "STAGE", c.stage).applyToProcess()
		if got := runtime.GOMAXPROCS(0); got != c.want {
			t.Errorf("%s with GOMAXPROCS=%q runs on %d; want %d", c.stage, c.variable, got, c.want)
		}
	}
}

// discard takes an answer without allocating.
type discard struct{ header http.Header }

func (d discard) Header() http.Header            { return d.header }
func (d discard) Write(text []byte) (int, error) { return len(text), nil }
func (d discard) WriteHeader(int)                {}

// bytesPerRequest is what a request allocates on average, the collector's pools
// having been filled first.
func bytesPerRequest(handler http.Handler) uint64 {
	writer, request := discard{http.Header{}}, httptest.NewRequest(http.MethodGet, "/work", nil)
	const requests = 200
	handler.ServeHTTP(writer, request)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range requests {
		handler.ServeHTTP(writer, request)
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / requests
}

func TestPooledStageAllocatesLess(t *testing.T) {
	fresh := bytesPerRequest(newWorkHandler(with(t, "STAGE", "cores")))
	pooled := bytesPerRequest(newWorkHandler(with(t, "STAGE", "pooled")))
	if fresh < payloadBytes {
		t.Errorf("cores allocates %d bytes a request; want the payload of %d or more", fresh, payloadBytes)
	}
	// Under the race detector a pool drops one in four of what it is given.
	if pooled > fresh/2 {
		t.Errorf("pooled allocates %d bytes a request, cores %d; want less than half", pooled, fresh)
	}
}

func TestPooledObjectsAllocateLess(t *testing.T) {
	size := []string{"STAGE", "pooled", "OBJECT_COUNT", "50", "OBJECT_BYTES", "2000"}
	fresh := bytesPerRequest(newWorkHandler(with(t, append(size, "OBJECTS", "fresh")...)))
	pooled := bytesPerRequest(newWorkHandler(with(t, append(size, "OBJECTS", "pooled")...)))
	if fresh < 50*2000 {
		t.Errorf("fresh objects take %d bytes a request; want at least 100000", fresh)
	}
	if pooled > fresh/2 {
		t.Errorf("pooled objects take %d bytes a request, fresh ones %d; want less than half", pooled, fresh)
	}
}

// A pool that gives one object twice is the fault that the marks are there for.
func TestSharedObjectIsNoticed(t *testing.T) {
	one := make([]byte, 8)
	err := useObjects(make([]*[]byte, 2), func() *[]byte { return &one }, func(*[]byte) {})
	if !errors.Is(err, errWork) {
		t.Errorf("got %v; want an error", err)
	}
}

func TestWrongWorkIsAnErrorAnswer(t *testing.T) {
	for _, stage := range []string{"cores", "pooled"} {
		handler := newWorkHandler(with(t, "STAGE", stage))
		handler.side = append(handler.side, func() error { return errWork })
		answer := get(handler, "/work")
		if answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), `"code":500`) {
			t.Errorf("%s: got %d %s; want 500", stage, answer.Code, answer.Body)
		}
	}
}
