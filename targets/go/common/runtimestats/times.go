// How long something took by the target's own clock, as a histogram: of requests
// in Prometheus' text format, so that prony can hold its 95th percentile against
// the target's, of waits for the pool of connections in the answer of Handler.
//
// The clock of a request begins when the handler does: under many connections the
// wait before it is not seen. So it is off unless a knob turns it on.
package runtimestats

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Two bounds an octave, from 10 us to more than 10 s; the last bucket has none.
const boundCount = 41

var bounds = func() []float64 {
	all := make([]float64, boundCount)
	for k := range all {
		all[k] = 1e-5 * math.Pow(2, float64(k)/2)
	}
	return all
}()

// Times is a histogram of durations; it is safe for concurrent use.
type Times struct {
	buckets [boundCount + 1]atomic.Uint64
	sumNS   atomic.Int64
}

// Observe adds one duration.
func (t *Times) Observe(took time.Duration) {
	at, _ := slices.BinarySearch(bounds, took.Seconds())
	t.buckets[at].Add(1)
	t.sumNS.Add(took.Nanoseconds())
}

// Text is the histogram http_request_duration_seconds.
func (t *Times) Text() []byte {
	const name = "http_request_duration_seconds"
	text := fmt.Appendf(nil, "# TYPE %s histogram\n", name)
	below := uint64(0)
	for k := range t.buckets {
		below += t.buckets[k].Load()
		bound := "+Inf"
		if k < boundCount {
			bound = fmt.Sprintf("%g", bounds[k])
		}
		text = fmt.Appendf(text, "%s_bucket{le=%q} %d\n", name, bound, below)
	}
	sum := time.Duration(t.sumNS.Load()).Seconds()
	return fmt.Appendf(text, "%s_sum %g\n%s_count %d\n", name, sum, name, below)
}

// histogram is the same by bucket, in seconds: the first begins at 0, the last has no end.
func (t *Times) histogram() histogram {
	buckets := make([]*float64, 0, boundCount+2)
	buckets = append(buckets, new(float64))
	for k := range bounds {
		buckets = append(buckets, &bounds[k])
	}
	counts := make([]uint64, len(t.buckets))
	for k := range t.buckets {
		counts[k] = t.buckets[k].Load()
	}
	return histogram{Buckets: append(buckets, nil), Counts: counts}
}

// ServeHTTP answers with Text.
func (t *Times) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	w.Header().Set("Cache-Control", "no-store")
	// A failed write means that the client has gone.
	_, _ = w.Write(t.Text())
}
