// The knobs, read once.
package main

import (
	"net"
	"strconv"
	"time"

	"prony.dev/targets/common/env"
	"prony.dev/targets/common/web"
)

// settings are those of one process; an address is "" where the service is absent.
type settings struct {
	queue   bool // orders are followed behind a queue
	workers int  // that empty the queue
	breaker time.Duration
	redis   string
	backend *web.Client // nil: there is none
}

func readSettings(r *env.Reader) settings {
	return settings{
		queue:   r.Choice("ORDERS", "request", "request", "queue") == "queue",
		workers: r.Int("ORDER_WORKERS", 8, 1, 1000),
		breaker: r.Duration("BREAKER", 0, 0, time.Minute),
		redis:   address(r, "REDIS"),
		backend: web.Open(r),
	}
}

func address(r *env.Reader, name string) string {
	host, port, given := r.Address(name)
	if !given {
		return ""
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}
