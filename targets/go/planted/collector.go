// Faults of Go's garbage collector: a heap that is long to mark, and a world
// that is slow to stop.
//
// Go's own pauses last some tens of microseconds, whatever the heap. They become
// long where a goroutine cannot be preempted: the collector has stopped all
// others and waits for that one. That is planted as it happens, by a loop without
// calls and by GODEBUG=asyncpreemptoff=1, and so the runtime counts it as a pause.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const noPreemption = "asyncpreemptoff=1"

// node is small and has pointers, so that marking has much to do.
type node struct {
	next  *node
	other *node
	bytes [48]byte
}

const nodeBytes = 64

// heap gives linked objects of so many MiB.
func heap(mib int) *node {
	var first *node
	for range mib * mebibytes / nodeBytes {
		first = &node{next: first, other: first}
	}
	return first
}

// withoutPreemption restarts this program in the same process, where the
// faults need GODEBUG and it is not there yet. It returns where it is not needed.
func withoutPreemption(s settings) error {
	now := os.Getenv("GODEBUG")
	if s.gcPause == 0 || strings.Contains(now, noPreemption) {
		return nil
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program's own file: %w", err)
	}
	if now != "" {
		now += ","
	}
	if err := os.Setenv("GODEBUG", now+noPreemption); err != nil {
		return err
	}
	return fmt.Errorf("cannot restart %s: %w", program, syscall.Exec(program, os.Args, os.Environ()))
}

// collect runs the collector until stop is closed, each time against a loop that
// holds it up.
func (f *faults) collect(stop <-chan struct{}) {
	// The loop must not take the only processor.
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	ticks := time.NewTicker(f.collectEvery)
	defer ticks.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticks.C:
			f.collectOnce()
		}
	}
}

func (f *faults) collectOnce() {
	begun, ended := make(chan struct{}), make(chan struct{})
	go func() {
		close(begun)
		burn(f.gcPause)
		close(ended)
	}()
	<-begun
	runtime.GC()
	<-ended
}
