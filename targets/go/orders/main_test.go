// The contract's answers for every setting; that a queued order is followed, once;
// and when the breaker opens and closes. No test waits for time to pass.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"prony.dev/targets/common/env"
	"prony.dev/targets/common/manifesttest"
	"prony.dev/targets/common/web"
)

func backendOf(t *testing.T, called func()) *web.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		called()
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	host, port, err := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]string{"BACKEND_HOST": host, "BACKEND_PORT": port}
	return web.Open(env.From(func(name string) string { return given[name] }))
}

func ask(t *testing.T, handler http.Handler, path string) (int, map[string]any) {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	var body map[string]any
	if err := json.Unmarshal(recorder.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	return recorder.Code, body
}

func TestSettingsAreThoseOfTheManifest(t *testing.T) {
	asked := manifesttest.Over(manifesttest.Defaults(t))
	chosen := readSettings(env.From(asked.Lookup))
	if unread := asked.Unread("PPROF", "PROFILE_RATES"); len(unread) > 0 || chosen.queue || chosen.workers != 8 {
		t.Errorf("unread %v, settings %+v", unread, chosen)
	}
}

func TestAQueuedOrderIsAnsweredAtOnceAndFollowedOnce(t *testing.T) {
	broker := miniredis.RunT(t)
	begun, calls := make(chan struct{}), make(chan struct{}, 64)
	address := backendOf(t, func() { <-begun; calls <- struct{}{} })
	s := newService(settings{queue: true, workers: 2, redis: broker.Addr(), backend: address})
	router := newRouter(s)
	for range 4 {
		if status, body := ask(t, router, "/order/7"); status != http.StatusOK || body["data"].(map[string]any)["order"] != "accepted" {
			t.Fatalf("status %d: %v", status, body)
		}
	}
	// Nothing has been followed when all are answered.
	if _, told := ask(t, router, "/debug/runtime"); told["orders_waiting"] != 4.0 || told["orders_done"] != 0.0 {
		t.Errorf("told %v waiting, %v done", told["orders_waiting"], told["orders_done"])
	}
	close(begun)
	for range 4 * steps {
		<-calls
	}
	for s.orders.(*queue).waiting.Load() > 0 {
		// The last acknowledgement is on its way; the test's own limit ends the wait.
	}
	_, told := ask(t, router, "/debug/runtime")
	if told["orders_done"] != 4.0 || told["orders_failed"] != 0.0 || len(calls) != 0 {
		t.Errorf("told %v done, %v failed, %d calls too many", told["orders_done"], told["orders_failed"], len(calls))
	}
}

func TestAnOrderInTheRequestWaitsForItsSteps(t *testing.T) {
	calls := 0
	router := newRouter(newService(settings{backend: backendOf(t, func() { calls++ })}))
	if status, body := ask(t, router, "/order/7"); status != http.StatusOK || calls != steps {
		t.Errorf("status %d after %d calls: %v", status, calls, body)
	}
	for path, want := range map[string]int{
		"/order/0": 400, "/order/x": 400, "/guarded/7?wait=2s": 400, "/guarded/7": 200, "/guarded/07": 400,
	} {
		if got, body := ask(t, router, path); got != want {
			t.Errorf("%s: status %d, want %d: %v", path, got, want, body)
		}
	}
	alone := newRouter(newService(settings{queue: true, workers: 1}))
	for _, path := range []string{"/order/7", "/guarded/7"} {
		if got, body := ask(t, alone, path); got != http.StatusServiceUnavailable {
			t.Errorf("%s without services: status %d: %v", path, got, body)
		}
	}
}

func TestTheBreakerOpensAtHalfOfTheLastCallsAndClosesAfterAGoodOne(t *testing.T) {
	now := time.Unix(0, 0)
	b := newBreaker(time.Minute, func() time.Time { return now })
	good := func(context.Context) error { return nil }
	bad := func(context.Context) error { return errors.New("planted") }
	for at := range lastCalls - 2 {
		call := good
		if at%2 == 1 {
			call = bad
		}
		if b.do(t.Context(), call) != (at%2 == 0) {
			t.Fatalf("call %d", at)
		}
	}
	b.do(t.Context(), bad)
	if b.opened != 1 {
		t.Fatalf("%d of %d failed and it is closed", b.failed, lastCalls)
	}
	called := false
	if b.do(t.Context(), func(context.Context) error { called = true; return nil }) || called {
		t.Error("an open breaker calls")
	}
	now = now.Add(openFor)
	if b.do(t.Context(), bad) || b.do(t.Context(), good) {
		t.Error("a failed trial must keep it open")
	}
	now = now.Add(openFor)
	if !b.do(t.Context(), good) || !b.do(t.Context(), good) {
		t.Error("a good trial closes it")
	}
	answer := map[string]any{}
	b.tell(answer)
	if answer["fallbacks"] != uint64(lastCalls/2+3) || answer["guarded_calls"] != uint64(lastCalls+4) {
		t.Errorf("counted %v", answer)
	}
}

func TestACallOfBeforeDecidesNothingWhileAnotherIsOnTrial(t *testing.T) {
	now := time.Unix(0, 0)
	b := newBreaker(time.Minute, func() time.Time { return now })
	_, late := b.enter()
	for range failedMax {
		b.leave(false, false)
	}
	now = now.Add(openFor)
	if enters, onTrial := b.enter(); !enters || !onTrial || late {
		t.Fatalf("enters %v, on trial %v, the first on trial %v", enters, onTrial, late)
	}
	b.leave(late, true)
	if b.open.IsZero() || !b.trying {
		t.Error("a good call of before has closed it")
	}
	b.leave(late, false)
	if enters, _ := b.enter(); enters {
		t.Error("a second call is let through")
	}
	if b.leave(true, true); !b.open.IsZero() {
		t.Error("the trial was good and it is open")
	}
}

func TestABrokerThatComesLaterIsFound(t *testing.T) {
	broker := miniredis.RunT(t)
	broker.SetError("LOADING")
	router := newRouter(newService(settings{queue: true, workers: 1, redis: broker.Addr(), backend: backendOf(t, func() {})}))
	if status, body := ask(t, router, "/order/7"); status != http.StatusServiceUnavailable {
		t.Fatalf("status %d: %v", status, body)
	}
	broker.SetError("")
	if status, body := ask(t, router, "/order/7"); status != http.StatusOK {
		t.Errorf("status %d: %v", status, body)
	}
}

func TestOrdersOfAnotherProcessAreNotFollowed(t *testing.T) {
	broker := miniredis.RunT(t)
	held, calls := make(chan struct{}), make(chan struct{}, 64)
	earlier := newService(settings{queue: true, workers: 1, redis: broker.Addr(), backend: backendOf(t, func() { <-held })})
	for range 3 {
		ask(t, newRouter(earlier), "/order/7")
	}
	later := newService(settings{queue: true, workers: 1, redis: broker.Addr(), backend: backendOf(t, func() { calls <- struct{}{} })})
	ask(t, newRouter(later), "/order/8")
	for range steps {
		<-calls
	}
	for later.orders.(*queue).done.Load() == 0 {
		// Its last acknowledgement is on its way.
	}
	if done, waiting := later.orders.(*queue).done.Load(), earlier.orders.(*queue).waiting.Load(); done != 1 || waiting != 3 || len(calls) != 0 {
		t.Errorf("%d done, %d of the earlier wait, %d calls too many", done, waiting, len(calls))
	}
	close(held)
}
