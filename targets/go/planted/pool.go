// A pool of slots that counts as database/sql counts its connections: who had to
// wait, how long, and how many slots are taken.
package main

import (
	"sync/atomic"
	"time"
)

// pool without slots lets everybody through and has no counts.
type pool struct {
	slots   chan struct{}
	waiting *atomic.Int64 // now
	waits   *atomic.Uint64
	waitNS  *atomic.Int64
}

// newPool has this many slots.
func newPool(slots int) pool {
	if slots == 0 {
		return pool{}
	}
	return pool{make(chan struct{}, slots), new(atomic.Int64), new(atomic.Uint64), new(atomic.Int64)}
}

// use takes a slot, keeps it for hold, and gives it back.
func (p pool) use(hold time.Duration) {
	if p.slots == nil {
		time.Sleep(hold)
		return
	}
	select {
	case p.slots <- struct{}{}:
	default:
		start := time.Now()
		p.waiting.Add(1)
		p.slots <- struct{}{}
		p.waiting.Add(-1)
		p.waits.Add(1)
		p.waitNS.Add(int64(time.Since(start)))
	}
	time.Sleep(hold)
	<-p.slots
}

// counts is what /debug/runtime reports on the pool; nil without one.
func (p pool) counts() map[string]any {
	if p.slots == nil {
		return nil
	}
	taken := len(p.slots)
	return map[string]any{
		"max": cap(p.slots), "open": cap(p.slots), "in_use": taken, "idle": cap(p.slots) - taken,
		"waiting": p.waiting.Load(), "waits": p.waits.Load(), "wait_ns": p.waitNS.Load(),
	}
}
