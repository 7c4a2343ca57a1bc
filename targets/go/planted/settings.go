// The knobs of this target, read once from the environment. target.toml lists
// them with the same defaults and ranges; a test holds the two together.
package main

import (
	"math"
	"strconv"
	"time"

	"prony.dev/targets/common/env"
)

const (
	burnMax   = time.Second
	waitMax   = time.Minute
	countMax  = 1_000_000
	mebibytes = 1 << 20
)

// settings says which faults there are. The zero value of each field is no fault;
// every field holds a checked value.
type settings struct {
	// Of each request.
	wait         time.Duration // slept on average, by chance: the pause of a user
	cpu          time.Duration // user CPU time burned
	kernelReads  int           // reads of 64 KiB from /dev/zero
	lock         time.Duration // slept with the one lock held
	slots        int           // of the pool; 0: there is no pool
	hold         time.Duration // slept with a slot held
	allocate     int           // KiB of small objects, garbage at its end
	errorShare   float64       // answered with 500
	leakMemory   int           // KiB kept for good
	leakRoutines int           // goroutines kept for good
	leakFilesAt  int           // every so many requests keep a descriptor; 0: none
	dials        bool          // a connection of its own to the backend
	cold         time.Duration // how long requests cost more after the first one
	coldCPU      time.Duration // what the first costs more
	twoWrites    bool          // the answer in two segments, with Nagle's algorithm
	readFile     int           // MiB of a file of which each request reads 1 MiB

	// Of the process.
	live         int           // MiB of small linked objects
	collectEvery time.Duration // the collector is run; 0: by the runtime alone
	gcPause      time.Duration // what each of these collections waits for
	backlog      int           // of the listener; 0: the system's
	acceptDelay  time.Duration // slept before each accept
	closes       bool          // each answer ends its connection
	descriptors  int           // limit of descriptors; 0: the system's
	workers      int           // processes that serve
	slowCPU      time.Duration // user CPU time that the first of them burns more
}

// readSettings reads the knobs. The error names each wrong variable and what it takes.
func readSettings(lookup func(string) string) (settings, error) {
	r := env.From(lookup)
	s := settings{
		wait:         r.Duration("WAIT", 0, 0, waitMax),
		cpu:          r.Duration("CPU", 0, 0, burnMax),
		kernelReads:  r.Int("KERNEL_READS", 0, 0, countMax),
		lock:         r.Duration("LOCK", 0, 0, waitMax),
		slots:        r.Int("SLOTS", 0, 0, countMax),
		hold:         r.Duration("HOLD", 0, 0, waitMax),
		allocate:     r.Int("ALLOCATE", 0, 0, 64<<10),
		errorShare:   share(r, "ERROR_SHARE"),
		leakMemory:   r.Int("LEAK_MEMORY", 0, 0, 16<<10),
		leakRoutines: r.Int("LEAK_GOROUTINES", 0, 0, 1000),
		leakFilesAt:  r.Int("LEAK_DESCRIPTOR_EVERY", 0, 0, countMax),
		dials:        r.Bool("DIAL", false),
		cold:         r.Duration("COLD", 0, 0, time.Hour),
		coldCPU:      r.Duration("COLD_CPU", 0, 0, burnMax),
		twoWrites:    r.Bool("TWO_WRITES", false),
		readFile:     r.Int("READ_FILE", 0, 0, 4<<10),
		live:         r.Int("LIVE", 0, 0, 8<<10),
		collectEvery: r.Duration("COLLECT_EVERY", 0, 0, waitMax),
		gcPause:      r.Duration("GC_PAUSE", 0, 0, burnMax),
		backlog:      r.Int("BACKLOG", 0, 0, 1<<16-1),
		acceptDelay:  r.Duration("ACCEPT_DELAY", 0, 0, waitMax),
		closes:       r.Bool("CLOSE", false),
		descriptors:  r.Int("DESCRIPTORS", 0, 0, countMax),
		workers:      r.Int("WORKERS", 1, 1, 64),
		slowCPU:      r.Duration("SLOW_WORKER_CPU", 0, 0, burnMax),
	}
	if s.descriptors != 0 && s.descriptors < 16 {
		r.Fail("DESCRIPTORS=%d: the process itself needs 16; 0 leaves the system's limit", s.descriptors)
	}
	if s.gcPause > 0 && s.collectEvery < s.gcPause {
		r.Fail("GC_PAUSE=%s needs a COLLECT_EVERY of at least as much", s.gcPause)
	}
	if s.slowCPU > 0 && s.workers < 2 {
		r.Fail("SLOW_WORKER_CPU=%s needs WORKERS of at least 2", s.slowCPU)
	}
	return s, r.Err()
}

// share takes a number from 0 to 1.
func share(r *env.Reader, name string) float64 {
	text := r.Text(name, "0")
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(value) || value < 0 || value > 1 {
		r.Fail("%s=%q is no number from 0 to 1", name, text)
		return 0
	}
	return value
}
