// Work on something that all requests share: a table of rows or a queue, behind
// a mutex, a read-write mutex, or without locks. Each request does a fixed
// number of operations, of which an exact share are reads.
//
// Both check themselves. A table's write moves an amount within a row, so every
// row adds up to 0 for whoever sees it whole. A queue's write takes the oldest
// item and puts it back, so no item is ever lost.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	tableRows = 64
	rowCells  = 32
	// More items than requests are likely in flight, so that a queue seldom runs dry.
	queueItems = 4096
)

// structure is what requests share. at chooses the place, where there are several.
type structure interface {
	read(at int) error
	write(at int) error
}

// newShared returns the work, or nil where there is none.
func newShared(chosen settings) func() error {
	shared := newStructure(chosen.structure, chosen.lock)
	if shared == nil {
		return nil
	}
	// Requests begin at different places, so that they do not all want one row.
	var requests atomic.Uint64
	return func() error {
		start := int(requests.Add(1) % tableRows)
		return operate(shared, start, chosen.lockOperations, chosen.readShare)
	}
}

func newStructure(kind, lock string) structure {
	switch {
	case lock == "none":
		return nil
	case kind == "queue" && lock == "lockfree":
		return newSharedQueue(newLockFreeQueue[int]())
	case kind == "queue":
		return newSharedQueue(&lockedQueue[int]{lock: newLock(lock)})
	case lock == "lockfree":
		return newLockFreeTable()
	default:
		return &lockedTable{lock: newLock(lock)}
	}
}

// operate does count operations. The reads are spread evenly: operation k is one
// where the running sum of shares passes a whole number.
func operate(shared structure, start, count int, readShare float64) error {
	for k := range count {
		operation := shared.write
		if int(float64(k+1)*readShare) > int(float64(k)*readShare) {
			operation = shared.read
		}
		if err := operation(start + k); err != nil {
			return err
		}
	}
	return nil
}

// readWriteLock is what sync.RWMutex has.
type readWriteLock interface {
	sync.Locker
	RLock()
	RUnlock()
}

// plainMutex lets one in at a time, also of readers.
type plainMutex struct{ sync.Mutex }

func (m *plainMutex) RLock()   { m.Lock() }
func (m *plainMutex) RUnlock() { m.Unlock() }

func newLock(name string) readWriteLock {
	if name == "rwmutex" {
		return &sync.RWMutex{}
	}
	return &plainMutex{}
}

type row [rowCells]int64

// move takes an amount from one cell to the next.
func (r *row) move(at int) {
	r[at%rowCells]--
	r[(at+1)%rowCells]++
}

func (r *row) check() error {
	var sum int64
	for _, cell := range r {
		sum += cell
	}
	if sum != 0 {
		return fmt.Errorf("%w: a row of the table adds up to %d, not 0", errWork, sum)
	}
	return nil
}

type lockedTable struct {
	lock readWriteLock
	rows [tableRows]row
}

func (t *lockedTable) read(at int) error {
	t.lock.RLock()
	defer t.lock.RUnlock()
	return t.rows[at%tableRows].check()
}

func (t *lockedTable) write(at int) error {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.rows[at%tableRows].move(at)
	return nil
}

// lockFreeTable replaces whole rows: readers see an old row or the new one.
type lockFreeTable struct {
	rows [tableRows]atomic.Pointer[row]
}

func newLockFreeTable() *lockFreeTable {
	t := &lockFreeTable{}
	for k := range t.rows {
		t.rows[k].Store(&row{})
	}
	return t
}

func (t *lockFreeTable) read(at int) error {
	return t.rows[at%tableRows].Load().check()
}

func (t *lockFreeTable) write(at int) error {
	place := &t.rows[at%tableRows]
	next := new(row)
	for {
		old := place.Load()
		*next = *old
		next.move(at)
		if place.CompareAndSwap(old, next) {
			return nil
		}
	}
}

// queue is first in, first out, and safe for concurrent use.
type queue[T any] interface {
	push(item T)
	// pop and peek report false where the queue is empty.
	pop() (T, bool)
	peek() (T, bool)
}

type sharedQueue struct {
	items queue[int]
}

func newSharedQueue(items queue[int]) *sharedQueue {
	for k := range queueItems {
		items.push(k)
	}
	return &sharedQueue{items}
}

func (q *sharedQueue) read(int) error {
	if item, ok := q.items.peek(); ok && (item < 0 || item >= queueItems) {
		return fmt.Errorf("%w: the queue holds %d, which nobody put in", errWork, item)
	}
	return nil
}

// write leaves an empty queue alone: its items are with other requests.
func (q *sharedQueue) write(int) error {
	if item, ok := q.items.pop(); ok {
		q.items.push(item)
	}
	return nil
}
