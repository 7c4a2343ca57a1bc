// A bounded pool of goroutines that run the handlers, in place of the one that
// each connection has. The connection waits for its turn.
package serve

import "net/http"

// Workers runs functions in a fixed number of goroutines, which live as long as
// the process. nil runs them where they are.
type Workers chan<- job

type job struct {
	do   func()
	done chan<- any // what the function panicked with; nil
}

// NewWorkers starts count goroutines; none for 0.
func NewWorkers(count int) Workers {
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
	return jobs
}

// Run waits for a free goroutine and then for do. A panic of do goes on in the
// caller, where the framework expects it.
func (w Workers) Run(do func()) {
	if w == nil {
		do()
		return
	}
	done := make(chan any, 1)
	w <- job{do, done}
	if panicked := <-done; panicked != nil {
		panic(panicked)
	}
}

func recovered(do func()) (panicked any) {
	defer func() { panicked = recover() }()
	do()
	return nil
}

// Wrap has the workers run handler.
func (w Workers) Wrap(handler http.Handler) http.Handler {
	if w == nil {
		return handler
	}
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.Run(func() { handler.ServeHTTP(out, r) })
	})
}
