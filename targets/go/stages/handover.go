// Who does the work of a request: its own goroutine, or one of a fixed number of
// workers that take jobs from a channel, in the order in which they were put in.
//
// A job once put in is done, also when its client has gone. Workers live as long
// as the process; there is no way to stop them.
package main

import (
	"context"
	"fmt"
	"strconv"
)

// handover does work and returns what it returned.
type handover interface {
	do(ctx context.Context, work func() error) error
}

func newHandover(chosen settings) handover {
	switch chosen.queue {
	case "sync":
		return inPlace{}
	case "unbuffered":
		return newWorkers(0, chosen.workers)
	default:
		// readSettings lets no other text than numbers through.
		capacity, _ := strconv.Atoi(chosen.queue)
		return newWorkers(capacity, chosen.workers)
	}
}

type inPlace struct{}

func (inPlace) do(_ context.Context, work func() error) error {
	return work()
}

// job is work and the place for its outcome, which has room for one, so that a
// worker never waits for a client that has gone.
type job struct {
	work    func() error
	outcome chan error
}

type workers struct {
	jobs chan job
}

func newWorkers(capacity, count int) *workers {
	w := &workers{make(chan job, capacity)}
	for range count {
		go w.run()
	}
	return w
}

func (w *workers) run() {
	for next := range w.jobs {
		next.outcome <- next.work()
	}
}

func (w *workers) do(ctx context.Context, work func() error) error {
	outcome, err := w.put(ctx, work)
	if err != nil {
		return err
	}
	select {
	case err := <-outcome:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the client went before a worker was done: %w", ctx.Err())
	}
}

// put hands work over; with no room in the channel it waits for a worker.
func (w *workers) put(ctx context.Context, work func() error) (chan error, error) {
	next := job{work, make(chan error, 1)}
	select {
	case w.jobs <- next:
		return next.outcome, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("no worker was free before the client went: %w", ctx.Err())
	}
}
