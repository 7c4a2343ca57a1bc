// A circuit breaker around calls that may hang.
//
// A call that takes longer than the limit counts as failed. Where half of the last
// 20 calls failed the breaker opens: for one second nothing is called. Then one
// call at a time is let through on trial; the first good one closes the breaker.
// A call that began before it opened and ends later decides nothing.
package main

import (
	"context"
	"sync"
	"time"
)

const (
	lastCalls = 20
	failedMax = lastCalls / 2
	openFor   = time.Second
)

type breaker struct {
	limit time.Duration
	now   func() time.Time

	mu     sync.Mutex
	last   [lastCalls]bool // whether it failed, in a ring
	at     int
	failed int
	open   time.Time // until when; zero where it is closed
	trying bool      // one call is let through on trial

	calls, fallbacks, opened uint64
}

func newBreaker(limit time.Duration, now func() time.Time) *breaker {
	return &breaker{limit: limit, now: now}
}

// do calls unless the breaker is open; false: use the fallback.
func (b *breaker) do(ctx context.Context, call func(context.Context) error) bool {
	enters, onTrial := b.enter()
	if !enters {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	return b.leave(onTrial, call(limited) == nil)
}

func (b *breaker) enter() (enters, onTrial bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.open.IsZero() {
		return true, false
	}
	if b.trying || b.now().Before(b.open) {
		b.fallbacks++
		return false, false
	}
	b.trying = true
	return true, true
}

func (b *breaker) leave(onTrial, good bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !good {
		b.fallbacks++
	}
	if onTrial {
		b.trying = false
		if good {
			b.last, b.failed, b.open = [lastCalls]bool{}, 0, time.Time{}
		} else {
			b.open = b.now().Add(openFor)
		}
		return good
	}
	if !b.open.IsZero() {
		return good
	}
	if b.last[b.at] {
		b.failed--
	}
	b.last[b.at] = !good
	b.at = (b.at + 1) % lastCalls
	if !good {
		b.failed++
	}
	if b.failed >= failedMax {
		b.open = b.now().Add(openFor)
		b.opened++
	}
	return good
}

// tell adds what the breaker counted to the answer of /debug/runtime.
func (b *breaker) tell(answer map[string]any) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	answer["guarded_calls"], answer["fallbacks"], answer["breaker_opened"] = b.calls, b.fallbacks, b.opened
}
