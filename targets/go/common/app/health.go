// Health: ready once every service that has an address was reached. What was
// reached once is not asked again, so that /health costs nothing under load.
package app

import (
	"context"
	"net/http"
	"sync"
	"time"

	"prony.dev/targets/common/contract"
)

// One question to one service takes no longer.
const pingTimeout = time.Second

type service struct {
	name string
	ping func(context.Context) error
}

// waiting lists the services that were not reached yet.
type waiting struct {
	mutex    sync.Mutex
	services []service
}

func (w *waiting) add(name string, ping func(context.Context) error) {
	w.services = append(w.services, service{name, ping})
}

// Health is the answer of /health with its HTTP status.
func (a *App) Health(ctx context.Context) (status int, health contract.Health) {
	a.waiting.mutex.Lock()
	defer a.waiting.mutex.Unlock()
	for len(a.waiting.services) > 0 {
		next := a.waiting.services[0]
		limited, cancel := context.WithTimeout(ctx, pingTimeout)
		err := next.ping(limited)
		cancel()
		if err != nil {
			return http.StatusServiceUnavailable, contract.Health{Status: "waiting for " + next.name + ": " + err.Error()}
		}
		a.waiting.services = a.waiting.services[1:]
	}
	return http.StatusOK, contract.Health{Status: "ok"}
}
