// Burning CPU time: a fixed amount of work, so that a busy core makes it last
// longer and never cost less.
package main

import (
	"sync"
	"time"
)

const (
	calibrationRounds = 20
	calibrationSteps  = 200_000
)

// stepsPerSecond is how fast spin goes on a core of its own: the fastest of some
// rounds, because others can only make a round slower.
var stepsPerSecond = sync.OnceValue(func() float64 {
	best := time.Duration(1 << 62)
	for range calibrationRounds {
		start := time.Now()
		spun(spin(1, calibrationSteps))
		if took := time.Since(start); took > 0 {
			best = min(best, took)
		}
	}
	return calibrationSteps / best.Seconds()
})

// burn takes about d of user CPU time.
func burn(d time.Duration) {
	if d > 0 {
		spun(spin(uint64(d), int(d.Seconds()*stepsPerSecond())))
	}
}

// spin has no call in its loop: without asynchronous preemption the world cannot
// be stopped before it is over.
//
//go:noinline
func spin(x uint64, steps int) uint64 {
	x |= 1
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// spun keeps the compiler from leaving the work out.
//
//go:noinline
func spun(uint64) {}
