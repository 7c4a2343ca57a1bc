// Tests of what the contract's files do not show: services that are missing,
// full or not reached yet, and wrong settings.
package app

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/env"
)

func open(values map[string]string) (*App, error) {
	return Open(env.From(func(name string) string { return values[name] }))
}

func TestMissingServicesAreTold(t *testing.T) {
	a, err := open(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	answers := map[string]contract.Answer{
		"MARIADB": a.User(ctx, "7", ""), "MARIADB_": a.Scan(ctx, "x"), "MARIADB_H": a.Mixed(ctx, ""),
		"REDIS": a.Value(ctx, "k"), "GRPC": a.Remote(ctx, "1"), "MARIADB_HO": a.Complex(ctx, "7", ""),
	}
	for name, answer := range answers {
		if answer.Status() != http.StatusServiceUnavailable || !strings.Contains(answer.Msg, name) {
			t.Errorf("%s: got %+v; want 503 with its name", name, answer)
		}
	}
	if status, health := a.Health(ctx); status != http.StatusOK || health.Status != "ok" {
		t.Errorf("without services: %d %+v", status, health)
	}
}

type full struct{}

func (full) Users(context.Context, int, int) ([]contract.User, error) { return nil, errFull }
func (full) Named(context.Context, string) ([]contract.User, error)   { return nil, errFull }

var errFull = errors.New("planted")

func TestAFaultOfAServiceIs503(t *testing.T) {
	a := &App{Users: full{}}
	for _, answer := range []contract.Answer{a.User(t.Context(), "7", ""), a.Scan(t.Context(), "x"), a.Mixed(t.Context(), "")} {
		if answer.Status() != http.StatusServiceUnavailable {
			t.Errorf("got %+v; want 503", answer)
		}
	}
}

func TestHealthWaitsForEachServiceOnce(t *testing.T) {
	a := &App{}
	up, asked := false, 0
	a.waiting.add("planted", func(context.Context) error {
		asked++
		if !up {
			return errFull
		}
		return nil
	})
	if status, health := a.Health(t.Context()); status != http.StatusServiceUnavailable || !strings.Contains(health.Status, "planted") {
		t.Errorf("before: %d %+v", status, health)
	}
	up = true
	for range 3 {
		if status, _ := a.Health(t.Context()); status != http.StatusOK {
			t.Errorf("after: %d", status)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times; want 2", asked)
	}
}

func TestWrongSettingsAreErrors(t *testing.T) {
	for name, value := range map[string]string{
		"FILES_DIR": "/no/such/folder", "ACCESS_LOG": "/no/such/folder/log", "WORKER_POOL": "-1",
		"MARIADB_HOST": "h", "REDIS_PORT": "1", "GRPC_PORT": "x", "JSON_ENGINE": "none",
	} {
		if _, err := open(map[string]string{name: value}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: got %v; want an error that names it", name, value, err)
		}
	}
}
