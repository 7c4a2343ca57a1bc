// Who follows an order: the request itself, or workers behind a stream of Redis.
//
// The stream is this process's own, so that nothing starts over with the orders of
// an earlier one. An order counts as done once all of its steps are, and is then
// removed from the stream. A queue of more than waitingMax orders takes none; one that cannot be
// followed is counted as failed and dropped.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	waitingMax = 10_000
	// Redis connections beside those of the workers, which wait on theirs.
	sendersMax = 32
	group      = "workers"
	blocked    = time.Second
)

// follow does the steps of an order.
type follow func(ctx context.Context, id int) error

// orders takes orders.
type orders interface {
	take(ctx context.Context, id int) error
	tell(answer map[string]any)
}

// inRequest follows each order before it is answered.
type inRequest struct{ follow follow }

func (o inRequest) take(ctx context.Context, id int) error { return o.follow(ctx, id) }
func (inRequest) tell(map[string]any)                      {}

// queue answers once the broker has an order.
type queue struct {
	redis   *redis.Client // nil: there is no broker
	workers int
	follow  follow
	stream  string

	begin sync.Mutex
	begun bool // the group and the workers are there

	waiting            atomic.Int64
	done, failed, full atomic.Uint64
}

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func newQueue(address string, workers int, follow follow) *queue {
	q := &queue{workers: workers, follow: follow, stream: fmt.Sprintf("orders-%d-%d", os.Getpid(), time.Now().UnixNano())}
	if address != "" {
		// Errors are sent to the client; the library would print them too.
		redis.SetLogger(quiet{})
		q.redis = redis.NewClient(&redis.Options{Addr: address, PoolSize: workers + sendersMax})
	}
	return q
}

func (q *queue) take(ctx context.Context, id int) error {
	if q.redis == nil {
		return errors.New("REDIS_HOST is not set, so this route has no service")
	}
	if err := q.start(ctx); err != nil {
		return fmt.Errorf("the broker: %w", err)
	}
	if q.waiting.Add(1) > waitingMax {
		q.waiting.Add(-1)
		q.full.Add(1)
		return fmt.Errorf("%d orders wait already", waitingMax)
	}
	err := q.redis.XAdd(ctx, &redis.XAddArgs{Stream: q.stream, Values: []string{"id", strconv.Itoa(id)}}).Err()
	if err != nil {
		q.waiting.Add(-1)
		return fmt.Errorf("the broker: %w", err)
	}
	return nil
}

// start makes the group of readers, and the workers, which live as long as the process.
// A broker that cannot be reached is asked again by the next order.
func (q *queue) start(ctx context.Context) error {
	q.begin.Lock()
	defer q.begin.Unlock()
	if q.begun {
		return nil
	}
	// An answer that was lost leaves the group behind.
	err := q.redis.XGroupCreateMkStream(ctx, q.stream, group, "0").Err()
	if err != nil && !redis.HasErrorPrefix(err, "BUSYGROUP") {
		return err
	}
	q.begun = true
	for worker := range q.workers {
		go q.work(context.Background(), strconv.Itoa(worker))
	}
	return nil
}

func (q *queue) work(ctx context.Context, name string) {
	read := &redis.XReadGroupArgs{Group: group, Consumer: name, Streams: []string{q.stream, ">"}, Count: 1, Block: blocked}
	for {
		streams, err := q.redis.XReadGroup(ctx, read).Result()
		if err != nil {
			if !errors.Is(err, redis.Nil) {
				// The broker is gone; it is asked again at the pace of one that waits.
				time.Sleep(blocked)
			}
			continue
		}
		for _, message := range streams[0].Messages {
			q.finish(ctx, message)
		}
	}
}

func (q *queue) finish(ctx context.Context, message redis.XMessage) {
	text, _ := message.Values["id"].(string)
	id, err := strconv.Atoi(text)
	if err == nil {
		err = q.follow(ctx, id)
	}
	if err == nil {
		q.done.Add(1)
	} else {
		q.failed.Add(1)
	}
	q.redis.XAck(ctx, q.stream, group, message.ID)
	q.redis.XDel(ctx, q.stream, message.ID)
	q.waiting.Add(-1)
}

// tell adds what the queue counted to the answer of /debug/runtime.
func (q *queue) tell(answer map[string]any) {
	answer["orders_waiting"] = q.waiting.Load()
	answer["orders_done"], answer["orders_failed"] = q.done.Load(), q.failed.Load()
	answer["orders_refused"] = q.full.Load()
}
