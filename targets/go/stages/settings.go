// The knobs of this target, read once from the environment. target.toml lists
// them with the same defaults and ranges; a test holds the two together.
package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// The wait that study B's handler begins with, standing for a slow dependency.
	naiveWait = 10 * time.Millisecond

	waitMax           = time.Minute
	workersMax        = 10_000
	lockOperationsMax = 100_000
	objectCountMax    = 100_000
	objectBytesMax    = 1 << 20
	// All objects of one request together: many requests hold theirs at once.
	objectTotalBytesMax = 64 << 20
)

// settings says how /work works. Every field holds a checked value.
type settings struct {
	stage   string
	wait    time.Duration
	queue   string
	workers int

	lock           string
	structure      string
	readShare      float64
	lockOperations int

	objects     string
	objectCount int
	objectBytes int
}

// readSettings reads the knobs. An error names the variable and what it takes.
func readSettings(lookup func(string) string) (settings, error) {
	env := environment{lookup: lookup}
	chosen := settings{
		stage:   env.choice("STAGE", "naive", "cores", "pooled"),
		queue:   env.choice("QUEUE", "sync", "unbuffered", "10", "1000"),
		workers: env.integer("WORKERS", 64, workersMax),

		lock:           env.choice("LOCK", "none", "mutex", "rwmutex", "lockfree"),
		structure:      env.choice("STRUCTURE", "table", "queue"),
		readShare:      env.share("READ_SHARE", 0.9),
		lockOperations: env.integer("LOCK_OPERATIONS", 100, lockOperationsMax),

		objects:     env.choice("OBJECTS", "none", "fresh", "pooled"),
		objectCount: env.integer("OBJECT_COUNT", 100, objectCountMax),
		objectBytes: env.integer("OBJECT_BYTES", 1024, objectBytesMax),
	}
	chosen.wait = env.duration("WAIT", chosen.stageWait(), waitMax)
	if total := chosen.objectCount * chosen.objectBytes; total > objectTotalBytesMax {
		env.fail("OBJECT_COUNT times OBJECT_BYTES is %d: at most %d bytes a request", total, objectTotalBytesMax)
	}
	return chosen, env.err
}

// stageWait is the wait of a stage where WAIT says nothing. The published mean
// of the last stage, 1.8 ms, leaves no room for the 10 ms of the first two.
func (s settings) stageWait() time.Duration {
	if s.stage == "pooled" {
		return 0
	}
	return naiveWait
}

func (s settings) keepAlive() bool {
	return s.stage != "naive"
}

// applyToProcess sets what holds for the whole process. GOMAXPROCS in the
// environment wins, so that it can be varied by itself.
func (s settings) applyToProcess() {
	if s.stage == "naive" && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}

// environment reads variables and keeps the first error.
type environment struct {
	lookup func(string) string
	err    error
}

func (e *environment) fail(format string, arguments ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, arguments...)
	}
}

// choice is one of choices; the first of them where the variable is not set.
func (e *environment) choice(name string, choices ...string) string {
	text := e.lookup(name)
	if text == "" {
		return choices[0]
	}
	if !slices.Contains(choices, text) {
		e.fail("%s is %q: set it to one of %s", name, text, strings.Join(choices, ", "))
	}
	return text
}

// integer is from 1 to most.
func (e *environment) integer(name string, otherwise, most int) int {
	text := e.lookup(name)
	if text == "" {
		return otherwise
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 || value > most {
		e.fail("%s is %q: set it to a whole number from 1 to %d", name, text, most)
		return otherwise
	}
	return value
}

// share is from 0 to 1.
func (e *environment) share(name string, otherwise float64) float64 {
	text := e.lookup(name)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseFloat(text, 64)
	// Written so that NaN fails too.
	if err != nil || !(value >= 0 && value <= 1) {
		e.fail("%s is %q: set it to a number from 0 to 1", name, text)
		return otherwise
	}
	return value
}

// duration is from 0 to most.
func (e *environment) duration(name string, otherwise, most time.Duration) time.Duration {
	text := e.lookup(name)
	if text == "" {
		return otherwise
	}
	value, err := time.ParseDuration(text)
	if err != nil || value < 0 || value > most {
		e.fail("%s is %q: set it to a duration from 0s to %s, such as 10ms", name, text, most)
		return otherwise
	}
	return value
}
