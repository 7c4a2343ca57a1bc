// Two queues with the same behaviour: a list behind a lock, and the lock-free
// queue of M. Michael and M. Scott, "Simple, Fast, and Practical Non-Blocking
// and Blocking Concurrent Queue Algorithms", PODC 1996. Both take one node for
// each item, so that they differ in locking only.
//
// The counters that the paper puts beside its pointers are absent: the collector
// frees no node that somebody still holds, so no pointer can come back as
// another node (the ABA problem).
package main

import "sync/atomic"

// lockedQueue is ready to use once it has its lock.
type lockedQueue[T any] struct {
	lock       readWriteLock
	head, tail *lockedNode[T]
}

type lockedNode[T any] struct {
	item T
	next *lockedNode[T]
}

func (q *lockedQueue[T]) push(item T) {
	node := &lockedNode[T]{item: item}
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.tail == nil {
		q.head = node
	} else {
		q.tail.next = node
	}
	q.tail = node
}

func (q *lockedQueue[T]) pop() (item T, ok bool) {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.head == nil {
		return item, false
	}
	item = q.head.item
	q.head = q.head.next
	if q.head == nil {
		q.tail = nil
	}
	return item, true
}

func (q *lockedQueue[T]) peek() (item T, ok bool) {
	q.lock.RLock()
	defer q.lock.RUnlock()
	if q.head == nil {
		return item, false
	}
	return q.head.item, true
}

// lockFreeQueue begins with a node that holds no item: head always points at the
// node before the oldest item, and tail at the last node or the one before it.
type lockFreeQueue[T any] struct {
	head, tail atomic.Pointer[lockFreeNode[T]]
}

type lockFreeNode[T any] struct {
	item T
	next atomic.Pointer[lockFreeNode[T]]
}

func newLockFreeQueue[T any]() *lockFreeQueue[T] {
	q := &lockFreeQueue[T]{}
	empty := &lockFreeNode[T]{}
	q.head.Store(empty)
	q.tail.Store(empty)
	return q
}

func (q *lockFreeQueue[T]) push(item T) {
	node := &lockFreeNode[T]{item: item}
	for {
		tail := q.tail.Load()
		next := tail.next.Load()
		if next != nil {
			// Another push has not moved the tail yet: help, then try again.
			q.tail.CompareAndSwap(tail, next)
			continue
		}
		if tail.next.CompareAndSwap(nil, node) {
			// Where this fails somebody has helped.
			q.tail.CompareAndSwap(tail, node)
			return
		}
	}
}

func (q *lockFreeQueue[T]) pop() (item T, ok bool) {
	for {
		head := q.head.Load()
		tail := q.tail.Load()
		next := head.next.Load()
		if next == nil {
			return item, false
		}
		if head == tail {
			// The tail must not fall behind the head.
			q.tail.CompareAndSwap(tail, next)
			continue
		}
		// Items are written before their node is linked and never after.
		if q.head.CompareAndSwap(head, next) {
			return next.item, true
		}
	}
}

func (q *lockFreeQueue[T]) peek() (item T, ok bool) {
	next := q.head.Load().next.Load()
	if next == nil {
		return item, false
	}
	return next.item, true
}
