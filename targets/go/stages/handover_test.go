// Tests of the hand-over to workers: order, capacity, and that no job is lost.
// They wait on channels, never on time.
package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// heldWorker is one worker, busy with a job until release is closed.
func heldWorker(t *testing.T, capacity int) (w *workers, release chan struct{}) {
	t.Helper()
	w = newWorkers(capacity, 1)
	entered, release := make(chan struct{}), make(chan struct{})
	if _, err := w.put(t.Context(), func() error {
		close(entered)
		<-release
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	<-entered
	return w, release
}

func TestOneWorkerKeepsTheOrder(t *testing.T) {
	w, release := heldWorker(t, 1000)
	var order []int
	var last chan error
	for k := range 1000 {
		outcome, err := w.put(t.Context(), func() error {
			order = append(order, k)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		last = outcome
	}
	close(release)
	if err := <-last; err != nil {
		t.Fatal(err)
	}
	if len(order) != 1000 || !slices.IsSorted(order) {
		t.Errorf("%d jobs done, in order: %t", len(order), slices.IsSorted(order))
	}
}

// With its worker busy a channel takes as many jobs as it has room for.
func TestCapacity(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, capacity := range map[string]int{"unbuffered": 0, "10": 10, "1000": 1000} {
		if got := cap(newHandover(with(t, "QUEUE", name, "WORKERS", "1")).(*workers).jobs); got != capacity {
			t.Errorf("QUEUE=%s has room for %d; want %d", name, got, capacity)
		}
		w, release := heldWorker(t, capacity)
		for range capacity {
			if _, err := w.put(t.Context(), func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.put(gone, func() error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("capacity %d: one job too many got %v; want canceled", capacity, err)
		}
		close(release)
	}
}

func TestNoJobIsLost(t *testing.T) {
	for _, queue := range []string{"sync", "unbuffered", "10", "1000"} {
		hand := newHandover(with(t, "QUEUE", queue, "WORKERS", "4"))
		var done atomic.Int64
		var clients sync.WaitGroup
		for range 50 {
			clients.Go(func() {
				for range 20 {
					if err := hand.do(t.Context(), func() error { done.Add(1); return nil }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		clients.Wait()
		if done.Load() != 1000 {
			t.Errorf("QUEUE=%s: %d jobs done; want 1000", queue, done.Load())
		}
	}
}

func TestOutcomeComesBack(t *testing.T) {
	for _, queue := range []string{"sync", "10"} {
		hand := newHandover(with(t, "QUEUE", queue))
		if err := hand.do(t.Context(), func() error { return errWork }); !errors.Is(err, errWork) {
			t.Errorf("QUEUE=%s: got %v; want the job's error", queue, err)
		}
	}
}

// A client that goes while its job runs must not hold up the worker.
func TestGoneClientDoesNotHoldTheWorker(t *testing.T) {
	w := newWorkers(0, 1)
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	err := w.do(ctx, func() error {
		cancel()
		<-release
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want canceled", err)
	}
	close(release)
	if err := w.do(t.Context(), func() error { return nil }); err != nil {
		t.Errorf("the next job: %v", err)
	}
}
