// Package cache reads values from Redis through a pool of connections and fills
// in what is missing.
package cache

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/env"
)

const (
	poolSize = 20
	lifetime = 60 * time.Second
)

// Client is safe for concurrent use.
type Client struct{ redis *redis.Client }

// Open makes a client for the address in the environment; nil where none is
// given. It does not connect.
func Open(r *env.Reader) *Client {
	host, port, given := r.Address("REDIS")
	if !given {
		return nil
	}
	// Errors are sent to the client; the library would print them too.
	redis.SetLogger(quiet{})
	return &Client{redis.NewClient(&redis.Options{
		Addr:     net.JoinHostPort(host, strconv.Itoa(port)),
		PoolSize: poolSize,
	})}
}

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// Ping reaches the server once.
func (c *Client) Ping(ctx context.Context) error { return c.redis.Ping(ctx).Err() }

// Get reads the value of key, or stores one for 60 s where there is none.
func (c *Client) Get(ctx context.Context, key string) (contract.Cached, error) {
	value, err := c.redis.Get(ctx, key).Result()
	if errors.Is(err, redis.Nil) {
		value = "value-of-" + key
		err = c.redis.Set(ctx, key, value, lifetime).Err()
	}
	return contract.Cached{Key: key, Value: value}, err
}
