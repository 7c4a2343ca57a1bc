// A service that depends on others, and two ways to live with that: a queue before
// slow work (/order/{id}), and a circuit breaker around calls that may hang
// (/guarded/{id}). Which of them is on follows from the environment (settings.go);
// the answers are the same, so that a load can check them.
//
// Deliberately absent: orders that outlive the process. They stay in its stream of
// the broker, and nothing starts over with them.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"prony.dev/targets/common/env"
	"prony.dev/targets/common/plain"
	"prony.dev/targets/common/web"
)

const (
	idMax = 100_000
	// Three steps follow an order: stock, invoice and message.
	steps    = 3
	stepWait = 5 * time.Millisecond
	waitMax  = time.Second
)

func main() {
	read := env.From(os.Getenv)
	chosen := readSettings(read)
	plain.End(read.Err())
	plain.Main(newRouter(newService(chosen)))
}

// service has what the handlers share.
type service struct {
	backend *web.Client // nil: there is none
	orders  orders
	breaker *breaker // nil: calls are made as they come
}

// newService connects to nothing.
func newService(chosen settings) *service {
	s := &service{backend: chosen.backend}
	s.orders = inRequest{s.follow}
	if chosen.queue {
		s.orders = newQueue(chosen.redis, chosen.workers, s.follow)
	}
	if chosen.breaker > 0 {
		s.breaker = newBreaker(chosen.breaker, time.Now)
	}
	return s
}

func newRouter(s *service) http.Handler {
	mux := plain.RoutesWith(func(answer map[string]any) {
		s.orders.tell(answer)
		s.breaker.tell(answer)
	})
	mux.HandleFunc("GET /order/{id}", s.order)
	mux.HandleFunc("GET /guarded/{id}", s.guarded)
	return mux
}

// call asks the backend, which waits so long before it answers.
func (s *service) call(ctx context.Context, wait time.Duration) error {
	if s.backend == nil {
		return errors.New("BACKEND_HOST is not set, so this route has no service")
	}
	_, err := s.backend.RecordsAfter(ctx, 1, wait)
	return err
}

// follow does what an order entails.
func (s *service) follow(ctx context.Context, _ int) error {
	for range steps {
		if err := s.call(ctx, stepWait); err != nil {
			return err
		}
	}
	return nil
}

func (s *service) order(w http.ResponseWriter, r *http.Request) {
	id, ok := number(r.PathValue("id"))
	if !ok {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("id must be an integer from 1 to %d", idMax))
		return
	}
	if err := s.orders.take(r.Context(), id); err != nil {
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	plain.WriteJSON(w, http.StatusOK, plain.OK(map[string]any{"id": id, "order": "accepted"}))
}

func (s *service) guarded(w http.ResponseWriter, r *http.Request) {
	id, ok := number(r.PathValue("id"))
	wait, err := time.ParseDuration(r.URL.Query().Get("wait"))
	if r.URL.Query().Get("wait") == "" {
		wait, err = 0, nil
	}
	if !ok || err != nil || wait < 0 || wait > waitMax {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("id must be an integer from 1 to %d, wait a time up to %s", idMax, waitMax))
		return
	}
	call := func(ctx context.Context) error { return s.call(ctx, wait) }
	if s.breaker == nil {
		err = call(r.Context())
	} else if !s.breaker.do(r.Context(), call) {
		plain.WriteJSON(w, http.StatusOK, plain.OK(map[string]any{"id": id, "value": "fallback"}))
		return
	}
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	plain.WriteJSON(w, http.StatusOK, plain.OK(map[string]any{"id": id, "value": "fresh"}))
}

func number(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	// Itoa refuses "+1" and "01", which Atoi takes.
	return n, err == nil && n >= 1 && n <= idMax && strconv.Itoa(n) == text
}

func refuse(w http.ResponseWriter, status int, msg string) {
	plain.WriteJSON(w, status, plain.Answer{Code: status, Msg: msg, Data: plain.Empty{}})
}
