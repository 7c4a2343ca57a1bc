// The faults of one request, one method each. What is shared between requests
// lives in one value of type faults; all of it is safe for concurrent use.
package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	objectBytes     = 256
	kernelReadBytes = 64 << 10
	partBytes       = 1 << 20
	dialTimeout     = 2 * time.Second

	// A pause is at most so many times the mean one: 5 of 100,000 are cut.
	waitTimesMax = 10
)

type faults struct {
	settings
	isSlow bool // this is the slow one of several processes

	lockHeld sync.Mutex
	pool     pool
	backend  string // address that dial connects to
	file     *os.File
	forever  chan struct{}
	requests atomic.Uint64
	coldFrom func() time.Time // the moment of the first request

	keep   sync.Mutex
	memory [][]byte
	files  []*os.File
}

func newFaults(s settings) *faults {
	f := &faults{settings: s, forever: make(chan struct{}), coldFrom: sync.OnceValue(time.Now)}
	f.pool = newPool(s.slots)
	return f
}

// suffer does to a request all that was planted. An error is a fault of the
// request itself, to be answered with 500.
func (f *faults) suffer() error {
	number := f.requests.Add(1)
	if f.wait > 0 {
		time.Sleep(time.Duration(float64(f.wait) * min(rand.ExpFloat64(), waitTimesMax)))
	}
	burn(f.cpu)
	if f.isSlow {
		burn(f.slowCPU)
	}
	burn(f.coldNow())
	if err := f.readKernel(); err != nil {
		return err
	}
	if err := f.readPart(); err != nil {
		return err
	}
	f.holdLock()
	f.pool.use(f.hold)
	garbage := allocate(f.allocate << 10)
	if err := f.leak(number); err != nil {
		return err
	}
	if err := f.dial(); err != nil {
		return err
	}
	if f.errorShare > 0 && rand.Float64() < f.errorShare {
		return fmt.Errorf("planted: %d objects", len(garbage))
	}
	return nil
}

// coldNow falls in a straight line from coldCPU at the first request to nothing.
func (f *faults) coldNow() time.Duration {
	if f.cold == 0 {
		return 0
	}
	left := f.cold - time.Since(f.coldFrom())
	return time.Duration(float64(f.coldCPU) * max(0, left.Seconds()) / f.cold.Seconds())
}

// readKernel spends CPU time in the kernel, which fills the buffer with zeros.
func (f *faults) readKernel() error {
	if f.kernelReads == 0 {
		return nil
	}
	zeros, err := os.Open("/dev/zero")
	if err != nil {
		return err
	}
	defer zeros.Close()
	buffer := make([]byte, kernelReadBytes)
	for range f.kernelReads {
		if _, err := io.ReadFull(zeros, buffer); err != nil {
			return err
		}
	}
	return nil
}

// writeFile makes the file that requests read, without a name: it goes with the
// process. Its pages belong to the control group of this process, so that a limit
// of memory below its size makes every part that is read push another one out.
func (f *faults) writeFile() error {
	file, err := os.CreateTemp("", "planted-*")
	if err != nil {
		return fmt.Errorf("cannot make the file of READ_FILE: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return errors.Join(err, file.Close())
	}
	part := make([]byte, partBytes)
	for range f.readFile {
		if _, err := file.Write(part); err != nil {
			return errors.Join(fmt.Errorf("cannot write %d MiB for READ_FILE: %w", f.readFile, err), file.Close())
		}
	}
	f.file = file
	return file.Sync()
}

// readPart reads one part of the file, drawn at random.
func (f *faults) readPart() error {
	if f.readFile == 0 {
		return nil
	}
	_, err := f.file.ReadAt(make([]byte, partBytes), rand.Int64N(int64(f.readFile))*partBytes)
	return err
}

func (f *faults) holdLock() {
	if f.lock > 0 {
		f.lockHeld.Lock()
		time.Sleep(f.lock)
		f.lockHeld.Unlock()
	}
}

// allocate gives small objects of so many bytes in all, which are garbage once
// the request is over.
func allocate(bytes int) [][]byte {
	objects := make([][]byte, bytes/objectBytes)
	for k := range objects {
		objects[k] = make([]byte, objectBytes)
	}
	return objects
}

// leak keeps for good what this request leaves behind.
func (f *faults) leak(number uint64) error {
	if f.leakMemory > 0 {
		block := make([]byte, f.leakMemory<<10)
		for k := 0; k < len(block); k += 4096 {
			block[k] = 1 // a page that is never written takes no memory
		}
		f.keep.Lock()
		f.memory = append(f.memory, block)
		f.keep.Unlock()
	}
	for range f.leakRoutines {
		go func() { <-f.forever }()
	}
	if f.leakFilesAt > 0 && number%uint64(f.leakFilesAt) == 0 {
		file, err := os.Open("/dev/null")
		if err != nil {
			return err
		}
		f.keep.Lock()
		f.files = append(f.files, file)
		f.keep.Unlock()
	}
	return nil
}

// dial asks the backend on a connection of its own and closes it first, so that
// its port stays in TIME_WAIT here, as where a service has no pool.
func (f *faults) dial() error {
	if !f.dials {
		return nil
	}
	connection, err := net.DialTimeout("tcp", f.backend, dialTimeout)
	if err != nil {
		return err
	}
	return connection.Close()
}

// serveBackend accepts for dial until the listener is closed.
func serveBackend(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			// Its end comes from the other side.
			_, _ = io.Copy(io.Discard, connection)
			connection.Close()
		}()
	}
}
