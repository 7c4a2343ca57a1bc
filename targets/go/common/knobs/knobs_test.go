// Tests that each variable reaches its knob and that a wrong one is refused.
package knobs

import (
	"strings"
	"testing"
	"time"

	"prony.dev/targets/common/env"
)

func read(name, value string) (Knobs, error) {
	r := env.From(func(asked string) string {
		if asked == name {
			return value
		}
		return ""
	})
	return Read(r), r.Err()
}

func TestEachVariableTurnsItsKnob(t *testing.T) {
	cases := []struct {
		name, value string
		turned      func(Knobs) bool
	}{
		{"KEEPALIVE", "false", func(k Knobs) bool { return !k.KeepAlive }},
		{"KEEPALIVE_TIMEOUT", "5s", func(k Knobs) bool { return k.KeepAliveTimeout == 5*time.Second }},
		{"READ_TIMEOUT", "5s", func(k Knobs) bool { return k.ReadTimeout == 5*time.Second }},
		{"WRITE_TIMEOUT", "0s", func(k Knobs) bool { return k.WriteTimeout == 0 }},
		{"HTTP2", "true", func(k Knobs) bool { return k.HTTP2 }},
		{"WORKER_POOL", "8", func(k Knobs) bool { return k.WorkerPool == 8 }},
		{"WORKER_POOL_WAIT", "0s", func(k Knobs) bool { return k.WorkerPoolWait == 0 }},
		{"JSON_ENGINE", "sonic", func(k Knobs) bool { return k.JSON == "sonic" }},
		{"BUFFER_POOL", "true", func(k Knobs) bool { return k.BufferPool }},
		{"LOGGER", "true", func(k Knobs) bool { return k.Logger }},
		{"STARTUP_LOG", "true", func(k Knobs) bool { return k.StartupLog }},
		{"NOT_FOUND_HANDLER", "contract", func(k Knobs) bool { return k.NotFound == Contract }},
		{"ERROR_HANDLER", "contract", func(k Knobs) bool { return k.ErrorHandler == Contract }},
		{"BODY_PARSING", "true", func(k Knobs) bool { return k.BodyParsing }},
		{"ROUTES", "10000", func(k Knobs) bool { return k.Routes == 10_000 }},
		{"REQUEST_TIMES", "true", func(k Knobs) bool { return k.RequestTimes }},
		{"ROUTER", "list", func(k Knobs) bool { return k.Router == List }},
		{"DB_MAX_OPEN", "3", func(k Knobs) bool { return k.DBMaxOpen == 3 }},
		{"DB_MAX_IDLE", "0", func(k Knobs) bool { return k.DBMaxIdle == 0 }},
		{"DB_MAX_LIFETIME", "1m", func(k Knobs) bool { return k.DBMaxLifetime == time.Minute }},
		{"DB_ACQUIRE_TIMEOUT", "1s", func(k Knobs) bool { return k.DBAcquireTimeout == time.Second }},
	}
	for _, c := range cases {
		if c.turned(Defaults()) {
			t.Errorf("%s: the default is %s already; the case shows nothing", c.name, c.value)
		}
		got, err := read(c.name, c.value)
		if err != nil || !c.turned(got) {
			t.Errorf("%s=%s: %v, %+v", c.name, c.value, err, got)
		}
		if _, err := read(c.name, "?"); err == nil || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s=?: got %v; want an error that names it", c.name, err)
		}
	}
}

func TestTheRuntimesOwnAreChecked(t *testing.T) {
	for name, values := range map[string]map[string]bool{
		"GOMAXPROCS": {"1": true, "0": false, "x": false},
		"GOGC":       {"off": true, "-1": true, "50": true, "x": false, "-2": false},
	} {
		for value, good := range values {
			if _, err := read(name, value); (err == nil) != good {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
}
