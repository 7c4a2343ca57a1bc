// Tests that the pool bounds what runs at once and passes panics on.
package serve

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestWorkersBoundWhatRunsAtOnce(t *testing.T) {
	const count = 3
	workers := NewWorkers(count)
	var inside, most atomic.Int64
	// The first three wait for each other, so that all workers are used.
	var meet, all sync.WaitGroup
	meet.Add(count)
	var entered atomic.Int64
	for range 50 {
		all.Go(func() {
			workers.Run(func() {
				now := inside.Add(1)
				for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
				}
				if entered.Add(1) <= count {
					meet.Done()
					meet.Wait()
				}
				inside.Add(-1)
			})
		})
	}
	all.Wait()
	if most.Load() != count || entered.Load() != 50 {
		t.Errorf("%d at once, %d ran; want %d and 50", most.Load(), entered.Load(), count)
	}
}

func TestAPanicGoesOnInTheCaller(t *testing.T) {
	for _, workers := range []Workers{nil, NewWorkers(1)} {
		for range 2 { // the worker outlives the first
			func() {
				defer func() {
					if got := recover(); got != "planted" {
						t.Errorf("recovered %v; want planted", got)
					}
				}()
				workers.Run(func() { panic("planted") })
			}()
		}
	}
}
