// Tests that the pool bounds what runs at once, passes panics on and gives up in time.
package serve

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"prony.dev/targets/common/knobs"
)

func TestWorkersBoundWhatRunsAtOnce(t *testing.T) {
	const count = 3
	workers := NewWorkers(count, knobs.NoLimit)
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
	for _, workers := range []*Workers{nil, NewWorkers(1, knobs.NoLimit)} {
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

func TestAFullPoolGivesUp(t *testing.T) {
	for _, wait := range []time.Duration{0, time.Millisecond} {
		workers := NewWorkers(1, wait)
		busy, release := make(chan struct{}), make(chan struct{})
		var taken sync.WaitGroup
		taken.Go(func() {
			for !workers.Run(func() { close(busy); <-release }) {
			}
		})
		<-busy
		if workers.Run(func() { t.Error("ran though the pool was full") }) {
			t.Errorf("wait of %s: a full pool took a job", wait)
		}
		close(release)
		taken.Wait()
	}
}

func TestReadingsOfTheTargetDoNotQueue(t *testing.T) {
	workers := NewWorkers(1, 0)
	if workers.Takes("/debug/runtime") || !workers.Takes("/ping") || (*Workers)(nil).Takes("/ping") {
		t.Error("the workers run requests, and nothing below /debug/; nil runs nothing")
	}
}
