// Tests of the shared table and queue: the share of reads, who excludes whom,
// and that nothing is lost under contention. Run them with -race.
package main

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

type counting struct{ reads, writes int }

func (c *counting) read(int) error  { c.reads++; return nil }
func (c *counting) write(int) error { c.writes++; return nil }

func TestReadShareIsExact(t *testing.T) {
	for share, reads := range map[float64]int{0: 0, 0.1: 10, 0.5: 50, 0.75: 75, 1: 100} {
		var c counting
		if err := operate(&c, 3, 100, share); err != nil {
			t.Fatal(err)
		}
		if c.reads != reads || c.writes != 100-reads {
			t.Errorf("share %g: %d reads, %d writes; want %d reads of 100", share, c.reads, c.writes, reads)
		}
	}
}

func TestOnlyAReadWriteLockLetsReadersIn(t *testing.T) {
	plain := newLock("mutex").(*plainMutex)
	plain.RLock()
	if plain.TryLock() {
		t.Error("a mutex lets a second reader in")
	}
	plain.RUnlock()
	shared := newLock("rwmutex").(*sync.RWMutex)
	shared.RLock()
	if !shared.TryRLock() {
		t.Error("a read-write mutex keeps a second reader out")
	}
	if shared.TryLock() {
		t.Error("a read-write mutex lets a writer in beside readers")
	}
}

func TestNoStructureWithoutALock(t *testing.T) {
	if newShared(with(t, "LOCK", "none")) != nil {
		t.Error("LOCK=none has shared work")
	}
}

// Every row must add up to 0 whenever it is read, and the queue must hold each
// of its items once when all is quiet.
func TestNothingIsLostUnderContention(t *testing.T) {
	for _, kind := range []string{"table", "queue"} {
		for _, lock := range []string{"mutex", "rwmutex", "lockfree"} {
			t.Run(kind+" "+lock, func(t *testing.T) {
				shared := newStructure(kind, lock)
				var clients sync.WaitGroup
				for start := range 8 {
					clients.Go(func() {
						if err := operate(shared, start, 5000, 0.5); err != nil {
							t.Error(err)
						}
					})
				}
				clients.Wait()
				if queue, ok := shared.(*sharedQueue); ok {
					holdsEachItemOnce(t, queue.items)
				}
			})
		}
	}
}

func holdsEachItemOnce(t *testing.T, items queue[int]) {
	t.Helper()
	var held []int
	for item, ok := items.pop(); ok; item, ok = items.pop() {
		held = append(held, item)
	}
	slices.Sort(held)
	if len(held) != queueItems || len(slices.Compact(held)) != queueItems {
		t.Errorf("the queue holds %d items; want each of %d once", len(held), queueItems)
	}
}

// The check must see the fault it is there for: half a write.
func TestTornRowIsNoticed(t *testing.T) {
	locked := newStructure("table", "mutex").(*lockedTable)
	locked.rows[5][0] = 1
	if err := locked.read(5); !errors.Is(err, errWork) {
		t.Errorf("locked table: got %v; want an error", err)
	}
	free := newLockFreeTable()
	free.rows[5].Store(&row{1})
	if err := free.read(5); !errors.Is(err, errWork) {
		t.Errorf("lock-free table: got %v; want an error", err)
	}
	queue := newSharedQueue(newLockFreeQueue[int]())
	for range queueItems {
		queue.items.pop()
	}
	queue.items.push(-1)
	if err := queue.read(0); !errors.Is(err, errWork) {
		t.Errorf("queue: got %v; want an error", err)
	}
}

func queues() map[string]queue[int] {
	return map[string]queue[int]{
		"mutex":    &lockedQueue[int]{lock: newLock("mutex")},
		"rwmutex":  &lockedQueue[int]{lock: newLock("rwmutex")},
		"lockfree": newLockFreeQueue[int](),
	}
}

func TestQueuesAreFirstInFirstOut(t *testing.T) {
	for name, q := range queues() {
		for round := range 3 {
			if item, ok := q.pop(); ok {
				t.Errorf("%s: round %d: an empty queue gave %d", name, round, item)
			}
			if _, ok := q.peek(); ok {
				t.Errorf("%s: round %d: an empty queue showed something", name, round)
			}
			for k := range 100 {
				q.push(k)
			}
			for k := range 100 {
				shown, _ := q.peek()
				item, ok := q.pop()
				if !ok || item != k || shown != k {
					t.Fatalf("%s: got %d, %t, shown %d; want %d", name, item, ok, shown, k)
				}
			}
		}
	}
}

// Producers and consumers at once: each item arrives once, and those of one
// producer in the order in which it put them in.
func TestQueuesLoseNothingBetweenProducersAndConsumers(t *testing.T) {
	const producers, each = 4, 5000
	for name, q := range queues() {
		var all sync.WaitGroup
		taken := make([][]int, 4)
		var left sync.WaitGroup
		left.Add(producers * each)
		drained := make(chan struct{})
		go func() { left.Wait(); close(drained) }()
		for p := range producers {
			all.Go(func() {
				for k := range each {
					q.push(p*each + k)
				}
			})
		}
		for c := range taken {
			all.Go(func() {
				for {
					if item, ok := q.pop(); ok {
						taken[c] = append(taken[c], item)
						left.Done()
						continue
					}
					select {
					case <-drained:
						return
					default:
					}
				}
			})
		}
		all.Wait()
		seen := map[int]bool{}
		for _, items := range taken {
			last := map[int]int{}
			for _, item := range items {
				if before, ok := last[item/each]; ok && before > item {
					t.Fatalf("%s: %d came after %d of the same producer", name, item, before)
				}
				last[item/each] = item
				seen[item] = true
			}
		}
		if len(seen) != producers*each {
			t.Errorf("%s: %d items arrived; want %d", name, len(seen), producers*each)
		}
	}
}
