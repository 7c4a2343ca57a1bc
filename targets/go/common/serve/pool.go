// A bounded pool of goroutines that run the handlers, in place of the one that
// each connection has. A request waits for its turn, or no longer than the knob
// says and is answered with 503.
package serve

import (
	"net/http"
	"strings"
	"time"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/plain"
)

// readings are the paths of what is read of the target itself, which must not
// queue behind the requests that it counts.
const readings = "/debug/"

// Workers runs functions in a fixed number of goroutines, which live as long as
// the process. nil runs them where they are.
type Workers struct {
	jobs chan<- job
	wait time.Duration // for a free goroutine; knobs.NoLimit: as long as it takes
}

type job struct {
	do   func()
	done chan<- any // what the function panicked with; nil
}

// NewWorkers starts count goroutines; none for 0. Run gives up after wait; 0 waits
// not at all, knobs.NoLimit as long as it takes.
func NewWorkers(count int, wait time.Duration) *Workers {
	if count == 0 {
		return nil
	}
	jobs := make(chan job)
	for range count {
		go func() {
			for j := range jobs {
				j.done <- recovered(j.do)
			}
		}()
	}
	return &Workers{jobs, wait}
}

// Run waits for a free goroutine and then for do; ran is false where none became
// free in time. A panic of do goes on in the caller, where the framework expects it.
func (w *Workers) Run(do func()) (ran bool) {
	if w == nil {
		do()
		return true
	}
	done := make(chan any, 1)
	if !w.handOver(job{do, done}) {
		return false
	}
	if panicked := <-done; panicked != nil {
		panic(panicked)
	}
	return true
}

func (w *Workers) handOver(j job) bool {
	select {
	case w.jobs <- j:
		return true
	default:
	}
	switch w.wait {
	case 0:
		return false
	case knobs.NoLimit:
		w.jobs <- j
		return true
	}
	limit := time.NewTimer(w.wait)
	defer limit.Stop()
	select {
	case w.jobs <- j:
		return true
	case <-limit.C:
		return false
	}
}

func recovered(do func()) (panicked any) {
	defer func() { panicked = recover() }()
	do()
	return nil
}

// Takes is whether the request of path is the workers' to run.
func (w *Workers) Takes(path string) bool {
	return w != nil && !strings.HasPrefix(path, readings)
}

// Busy is the answer where no goroutine became free in time.
func Busy() contract.Answer {
	return contract.Fail(http.StatusServiceUnavailable, "no goroutine of the pool is free")
}

// Wrap has the workers run handler.
func (w *Workers) Wrap(handler http.Handler) http.Handler {
	if w == nil {
		return handler
	}
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if !w.Takes(r.URL.Path) {
			handler.ServeHTTP(out, r)
		} else if !w.Run(func() { handler.ServeHTTP(out, r) }) {
			plain.WriteJSON(out, http.StatusServiceUnavailable, Busy())
		}
	})
}
