// Package runtimestats serves what the Go runtime knows about itself, so that
// prony can read it beside the load.
//
// The answer is one JSON object keyed by the names of package runtime/metrics.
// Numbers are numbers; a histogram is {"buckets":[...],"counts":[...]} with one
// bound more than counts and infinite bounds as null. "go_version" and
// "dependencies" say what was built, "requests" how many were served where the
// target counts them, "pool" what package database/sql reports on the connections
// where there is a pool, "pool-wait:seconds" how long each request for one took.
// A metric this runtime lacks is absent, never zero.
//
// Deliberately absent: runtime.ReadMemStats, which stops the world, and any
// cache, which would give stale readings.
//
// The /cpu/classes metrics are estimates that the runtime brings up to date at
// the end of a GC cycle only. Between two cycles they stand still.
package runtimestats

import (
	"database/sql"
	"encoding/json"
	"math"
	"net/http"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"
)

// names lists what is served. The rule of choice: what tells a saturated
// processor, the collector, the heap, the scheduler or a lock apart as the
// thing that holds a service back.
var names = []string{
	"/cpu/classes/gc/mark/assist:cpu-seconds",
	"/cpu/classes/gc/total:cpu-seconds",
	"/cpu/classes/idle:cpu-seconds",
	"/cpu/classes/scavenge/total:cpu-seconds",
	"/cpu/classes/total:cpu-seconds",
	"/cpu/classes/user:cpu-seconds",
	"/gc/cycles/total:gc-cycles",
	"/gc/gogc:percent",
	"/gc/gomemlimit:bytes",
	"/gc/heap/allocs:bytes",
	"/gc/heap/allocs:objects",
	"/gc/heap/frees:bytes",
	"/gc/heap/frees:objects",
	"/gc/heap/goal:bytes",
	"/gc/heap/live:bytes",
	"/gc/heap/objects:objects",
	"/memory/classes/heap/objects:bytes",
	"/memory/classes/heap/released:bytes",
	"/memory/classes/heap/stacks:bytes",
	"/memory/classes/total:bytes",
	"/sched/gomaxprocs:threads",
	"/sched/goroutines-created:goroutines",
	"/sched/goroutines/runnable:goroutines",
	"/sched/goroutines:goroutines",
	"/sched/latencies:seconds",
	"/sched/pauses/total/gc:seconds",
	"/sched/pauses/total/other:seconds",
	"/sched/threads/total:threads",
	"/sync/mutex/wait/total:seconds",
}

// Counter counts requests, so that prony can hold its own count against that of
// the target, and times them where Times is not nil.
type Counter struct {
	Times    *Times
	requests atomic.Uint64
}

// Begin counts a request to path, but for those below /debug/, which are prony's
// own. What it returns is for End.
func (c *Counter) Begin(path string) (start time.Time) {
	if strings.HasPrefix(path, "/debug/") {
		return start
	}
	c.requests.Add(1)
	if c.Times != nil {
		start = time.Now()
	}
	return start
}

// End times the request that began at start, if it is to be timed.
func (c *Counter) End(start time.Time) {
	if !start.IsZero() {
		c.Times.Observe(time.Since(start))
	}
}

// Wrap counts and times every request to next.
func (c *Counter) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := c.Begin(r.URL.Path)
		next.ServeHTTP(w, r)
		c.End(start)
	})
}

// Handler answers GET with the readings. It is safe for concurrent use: each
// request reads into its own samples.
func Handler() http.Handler { return handler(func(map[string]any) {}) }

// HandlerWith is Handler with what c has counted as "requests", and with what more adds.
func HandlerWith(c *Counter, more func(answer map[string]any)) http.Handler {
	return handler(func(answer map[string]any) {
		answer["requests"] = c.requests.Load()
		more(answer)
	})
}

// Databases reports on the pool of connections, and on how long it took to get
// one; ok is false where there is none.
type Databases func() (stats sql.DBStats, waits *Times, ok bool)

// HandlerOf is Handler with the pool of connections as "pool", and with what c
// has counted as "requests" where c is not nil.
func HandlerOf(databases Databases, c *Counter) http.Handler {
	return handler(func(answer map[string]any) {
		if c != nil {
			answer["requests"] = c.requests.Load()
		}
		if stats, waits, ok := databases(); ok {
			answer["pool"] = newPool(stats)
			answer["pool-wait:seconds"] = waits.histogram()
		}
	})
}

// pool is sql.DBStats under the names that all targets give a pool. Max is 0
// where there is no limit; Waits and WaitNS only grow.
type pool struct {
	Max    int   `json:"max"`
	Open   int   `json:"open"`
	InUse  int   `json:"in_use"`
	Idle   int   `json:"idle"`
	Waits  int64 `json:"waits"`
	WaitNS int64 `json:"wait_ns"`
}

func newPool(stats sql.DBStats) pool {
	return pool{
		Max: stats.MaxOpenConnections, Open: stats.OpenConnections, InUse: stats.InUse, Idle: stats.Idle,
		Waits: stats.WaitCount, WaitNS: stats.WaitDuration.Nanoseconds(),
	}
}

func handler(extend func(answer map[string]any)) http.Handler {
	goVersion, dependencies := build()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer := read()
		extend(answer)
		answer["go_version"] = goVersion
		answer["dependencies"] = dependencies
		body, err := json.Marshal(answer)
		if err != nil {
			http.Error(w, "encoding the runtime metrics: "+err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		// A failed write means that the client has gone.
		_, _ = w.Write(body)
	})
}

// read takes all readings in one call, so that they belong together.
func read() map[string]any {
	samples := make([]metrics.Sample, len(names))
	for k, name := range names {
		samples[k].Name = name
	}
	metrics.Read(samples)

	readings := make(map[string]any, len(samples)+2)
	for _, sample := range samples {
		if reading, ok := value(sample.Value); ok {
			readings[sample.Name] = reading
		}
	}
	return readings
}

// value turns a reading into what encoding/json can write; ok is false when the
// runtime does not have the metric.
func value(v metrics.Value) (reading any, ok bool) {
	switch v.Kind() {
	case metrics.KindUint64:
		return v.Uint64(), true
	case metrics.KindFloat64:
		return v.Float64(), true
	case metrics.KindFloat64Histogram:
		return newHistogram(v.Float64Histogram()), true
	default:
		return nil, false
	}
}

// histogram is metrics.Float64Histogram in a form that JSON can carry: Counts[k]
// values lay in [Buckets[k], Buckets[k+1]); a nil bound is infinite.
type histogram struct {
	Buckets []*float64 `json:"buckets"`
	Counts  []uint64   `json:"counts"`
}

func newHistogram(h *metrics.Float64Histogram) histogram {
	buckets := make([]*float64, len(h.Buckets))
	for k := range h.Buckets {
		if !math.IsInf(h.Buckets[k], 0) {
			buckets[k] = &h.Buckets[k]
		}
	}
	return histogram{Buckets: buckets, Counts: h.Counts}
}

// build tells the Go version and the modules linked into this binary. A module
// that comes from a folder of this repository has no version; it shows Go's own
// word for that, "(devel)".
func build() (goVersion string, dependencies map[string]string) {
	dependencies = map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", dependencies
	}
	for _, module := range info.Deps {
		dependencies[module.Path] = version(module)
	}
	return info.GoVersion, dependencies
}

func version(module *debug.Module) string {
	if module.Replace != nil {
		module = module.Replace
	}
	if module.Version == "" {
		return "(devel)"
	}
	return module.Version
}
