// Tests that durations fall into their buckets, which add up, and that only
// requests of the load are timed.
package runtimestats

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestDurationsFallIntoTheirBuckets(t *testing.T) {
	times := new(Times)
	for _, took := range []time.Duration{0, 10 * time.Microsecond, 11 * time.Microsecond, time.Hour} {
		times.Observe(took)
	}
	text := string(times.Text())
	for _, line := range []string{`_bucket{le="1e-05"} 2`, `_bucket{le="2e-05"} 3`, `_bucket{le="+Inf"} 4`, "_count 4\n"} {
		if !strings.Contains(text, "http_request_duration_seconds"+line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

func TestTheHistogramHasOneBoundMoreThanCounts(t *testing.T) {
	times := new(Times)
	for _, took := range []time.Duration{0, 15 * time.Microsecond, time.Hour} {
		times.Observe(took)
	}
	got := times.histogram()
	if len(got.Buckets) != len(got.Counts)+1 || *got.Buckets[0] != 0 || got.Buckets[len(got.Counts)] != nil {
		t.Fatalf("%d bounds and %d counts", len(got.Buckets), len(got.Counts))
	}
	for k, want := range map[int]uint64{0: 1, 1: 0, 2: 1, boundCount: 1} {
		if got.Counts[k] != want {
			t.Errorf("%d in bucket %d; want %d", got.Counts[k], k, want)
		}
	}
}

func TestOnlyRequestsOfTheLoadAreTimed(t *testing.T) {
	counter := &Counter{Times: new(Times)}
	handler := counter.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, path := range []string{"/ping", "/debug/requests", "/nope"} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	if text := string(counter.Times.Text()); !strings.Contains(text, "_count 2\n") || counter.requests.Load() != 2 {
		t.Errorf("%d requests, and %s", counter.requests.Load(), text)
	}
}
