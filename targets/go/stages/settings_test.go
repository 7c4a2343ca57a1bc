// Tests of the knobs: the defaults are those of target.toml, and a wrong value
// is refused with the variable's name and what it takes.
package main

import (
	"strings"
	"testing"
	"time"

	"prony.dev/targets/common/manifesttest"
)

func TestWrongValuesNameVariableAndRemedy(t *testing.T) {
	cases := []struct{ name, value, part string }{
		{"STAGE", "fast", "naive, cores, pooled"},
		{"QUEUE", "11", "sync, unbuffered, 10, 1000"},
		{"WORKERS", "0", "from 1 to 10000"},
		{"WORKERS", "99999999999999999999", "from 1 to 10000"},
		{"WAIT", "10", "such as 10ms"},
		{"WAIT", "-1s", "from 0s"},
		{"WAIT", "2m", "1m0s"},
		{"LOCK", "spin", "none, mutex, rwmutex, lockfree"},
		{"STRUCTURE", "tree", "table, queue"},
		{"READ_SHARE", "1.1", "from 0 to 1"},
		{"READ_SHARE", "NaN", "from 0 to 1"},
		{"LOCK_OPERATIONS", "-1", "from 1 to 100000"},
		{"OBJECTS", "yes", "none, fresh, pooled"},
		{"OBJECT_COUNT", "1e3", "from 1 to 100000"},
		{"OBJECT_BYTES", "0", "from 1 to 1048576"},
	}
	for _, c := range cases {
		_, err := readSettings(func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s=%s: got %v; want an error with %q", c.name, c.value, err, c.part)
		}
	}
}

func TestObjectsOfOneRequestAreBounded(t *testing.T) {
	_, err := readSettings(func(name string) string {
		return map[string]string{"OBJECT_COUNT": "100000", "OBJECT_BYTES": "1000"}[name]
	})
	if err == nil || !strings.Contains(err.Error(), "at most 67108864") {
		t.Errorf("got %v; want a refusal", err)
	}
}

// Setting every variable to the manifest's default must change nothing.
func TestManifestHasTheDefaults(t *testing.T) {
	manifest := manifesttest.Defaults(t)
	if len(manifest) < 11 {
		t.Fatalf("only %d knobs with defaults found in target.toml: %v", len(manifest), manifest)
	}
	plain, err := readSettings(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	knobs := manifesttest.Over(manifest)
	written, err := readSettings(knobs.Lookup)
	if err != nil {
		t.Fatal(err)
	}
	if plain != written {
		t.Errorf("without variables %+v; with the manifest's defaults %+v", plain, written)
	}
	// The Go runtime and common/profiling read these themselves.
	if unread := knobs.Unread("GOGC", "PPROF", "PROFILE_RATES"); unread != nil {
		t.Errorf("knobs of %v are in target.toml, but nothing reads them", unread)
	}
	if plain.wait != 10*time.Millisecond || plain.stage != "naive" {
		t.Errorf("defaults are %+v; want study B's naive stage", plain)
	}
}
