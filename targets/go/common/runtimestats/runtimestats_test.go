// Tests of the metrics endpoint through HTTP, and of the conversions that a
// running process does not show on demand.
package runtimestats

import (
	"database/sql"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"
)

// The names prony's collector relies on. Written out here again so that a name
// dropped from the list under test is noticed.
var required = []string{
	"/sched/goroutines:goroutines",
	"/memory/classes/heap/objects:bytes",
	"/memory/classes/total:bytes",
	"/gc/heap/goal:bytes",
	"/gc/cycles/total:gc-cycles",
	"/gc/heap/allocs:bytes",
	"/gc/heap/allocs:objects",
	"/cpu/classes/gc/total:cpu-seconds",
	"/cpu/classes/user:cpu-seconds",
	"/sched/gomaxprocs:threads",
}

var requiredHistograms = []string{
	"/sched/pauses/total/gc:seconds",
	"/sched/latencies:seconds",
}

func get(t *testing.T, handler http.Handler) map[string]json.RawMessage {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/debug/runtime", nil))
	if recorder.Code != http.StatusOK {
		t.Fatalf("status %d; want 200; body %s", recorder.Code, recorder.Body)
	}
	if got := recorder.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		t.Fatalf("Content-Type %q; want application/json", got)
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		t.Fatalf("the answer is not a JSON object: %v\n%s", err, recorder.Body)
	}
	return answer
}

func decode[T any](t *testing.T, answer map[string]json.RawMessage, key string) T {
	t.Helper()
	var value T
	raw, ok := answer[key]
	if !ok {
		t.Fatalf("%s is absent", key)
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatalf("%s: %v in %s", key, err, raw)
	}
	return value
}

func TestRequiredNumbers(t *testing.T) {
	answer := get(t, Handler())
	for _, name := range required {
		if got := decode[float64](t, answer, name); got < 0 {
			t.Errorf("%s = %v; want 0 or more", name, got)
		}
	}
	want := float64(runtime.GOMAXPROCS(0))
	if got := decode[float64](t, answer, "/sched/gomaxprocs:threads"); got != want {
		t.Errorf("gomaxprocs = %v; want %v", got, want)
	}
}

func TestRequiredHistograms(t *testing.T) {
	runtime.GC()
	answer := get(t, Handler())
	for _, name := range requiredHistograms {
		h := decode[histogram](t, answer, name)
		checkHistogram(t, name, h)
	}
	pauses := decode[histogram](t, answer, "/sched/pauses/total/gc:seconds")
	total := uint64(0)
	for _, count := range pauses.Counts {
		total += count
	}
	if total == 0 {
		t.Error("no pause counted after a forced collection")
	}
}

func checkHistogram(t *testing.T, name string, h histogram) {
	t.Helper()
	if len(h.Buckets) != len(h.Counts)+1 {
		t.Errorf("%s: %d bounds for %d counts; want one more", name, len(h.Buckets), len(h.Counts))
	}
	last := math.Inf(-1)
	for k, bound := range h.Buckets {
		if bound == nil {
			if k != 0 && k != len(h.Buckets)-1 {
				t.Errorf("%s: bound %d of %d is infinite; only the outer ones may be", name, k, len(h.Buckets))
			}
			continue
		}
		if *bound <= last {
			t.Errorf("%s: bound %d is %v after %v; want rising bounds", name, k, *bound, last)
		}
		last = *bound
	}
}

// Every name served must exist in the Go this module is built with.
func TestEveryNameIsKnown(t *testing.T) {
	known := map[string]bool{}
	for _, description := range metrics.All() {
		known[description.Name] = true
	}
	for _, name := range names {
		if !known[name] {
			t.Errorf("%s is not a metric of %s", name, runtime.Version())
		}
	}
	if got, want := len(read()), len(names); got != want {
		t.Errorf("%d readings; want %d", got, want)
	}
}

func TestReadingsAreLive(t *testing.T) {
	handler := Handler()
	const cycles = "/gc/cycles/total:gc-cycles"
	before := decode[uint64](t, get(t, handler), cycles)
	runtime.GC()
	if after := decode[uint64](t, get(t, handler), cycles); after <= before {
		t.Errorf("%s went from %d to %d over a forced collection", cycles, before, after)
	}
}

func TestBuildInformation(t *testing.T) {
	answer := get(t, Handler())
	if got := decode[string](t, answer, "go_version"); got != runtime.Version() {
		t.Errorf("go_version %q; want %q", got, runtime.Version())
	}
	decode[map[string]string](t, answer, "dependencies")
}

func TestVersion(t *testing.T) {
	cases := []struct {
		module debug.Module
		want   string
	}{
		{debug.Module{Version: "v1.2.3"}, "v1.2.3"},
		{debug.Module{Version: "v1.2.3", Replace: &debug.Module{Version: "v1.2.4"}}, "v1.2.4"},
		{debug.Module{Version: "v0.0.0", Replace: &debug.Module{Path: "../common"}}, "(devel)"},
		{debug.Module{Version: "v0.0.0", Replace: &debug.Module{Path: "../common", Version: "(devel)"}}, "(devel)"},
	}
	for _, c := range cases {
		if got := version(&c.module); got != c.want {
			t.Errorf("version(%+v) = %q; want %q", c.module, got, c.want)
		}
	}
}

func TestInfiniteBoundsAreNull(t *testing.T) {
	body, err := json.Marshal(newHistogram(&metrics.Float64Histogram{
		Buckets: []float64{math.Inf(-1), 0, 0.5, math.Inf(1)},
		Counts:  []uint64{1, 2, 3},
	}))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"buckets":[null,0,0.5,null],"counts":[1,2,3]}`; string(body) != want {
		t.Errorf("got %s; want %s", body, want)
	}
}

// A name the runtime does not have reads as KindBad and must stay out.
func TestUnknownMetricIsAbsent(t *testing.T) {
	samples := []metrics.Sample{{Name: "/no/such:metric"}}
	metrics.Read(samples)
	if reading, ok := value(samples[0].Value); ok {
		t.Errorf("an unknown metric reads as %v; want absent", reading)
	}
}

func TestRequestsAreCountedButNotTheReadings(t *testing.T) {
	counter := new(Counter)
	mux := http.NewServeMux()
	mux.Handle("/debug/runtime", HandlerWith(counter, func(map[string]any) {}))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	handler := counter.Wrap(mux)

	before := decode[uint64](t, get(t, handler), "requests")
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			for range 100 {
				recorder := httptest.NewRecorder()
				handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/ping", nil))
				if recorder.Code != http.StatusTeapot {
					t.Errorf("status %d; want the handler's own", recorder.Code)
				}
			}
		})
	}
	group.Wait()
	if got := decode[uint64](t, get(t, handler), "requests") - before; got != 1000 {
		t.Errorf("%d requests counted; want 1000", got)
	}
	if _, ok := get(t, Handler())["requests"]; ok {
		t.Error("a count where nothing counts; want none")
	}
}

func TestThePoolIsToldWhereThereIsOne(t *testing.T) {
	stats := sql.DBStats{
		MaxOpenConnections: 100, OpenConnections: 7, InUse: 5, Idle: 2, WaitCount: 9, WaitDuration: 3 * time.Microsecond,
	}
	waits := new(Times)
	waits.Observe(time.Second)
	answer := get(t, HandlerOf(func() (sql.DBStats, *Times, bool) { return stats, waits, true }, nil))
	want := pool{Max: 100, Open: 7, InUse: 5, Idle: 2, Waits: 9, WaitNS: 3_000}
	if got := decode[pool](t, answer, "pool"); got != want {
		t.Errorf("pool %+v; want %+v", got, want)
	}
	sum := uint64(0)
	for _, count := range decode[histogram](t, answer, "pool-wait:seconds").Counts {
		sum += count
	}
	if sum != 1 {
		t.Errorf("%d waits; want 1", sum)
	}
	if _, ok := answer["requests"]; ok {
		t.Error("a count where nothing counts; want none")
	}
	none := get(t, HandlerOf(func() (sql.DBStats, *Times, bool) { return sql.DBStats{}, nil, false }, new(Counter)))
	for _, name := range []string{"pool", "pool-wait:seconds"} {
		if _, ok := none[name]; ok {
			t.Errorf("%s where there is none; want none", name)
		}
	}
	if got := decode[uint64](t, none, "requests"); got != 0 {
		t.Errorf("%d requests; want 0", got)
	}
}
