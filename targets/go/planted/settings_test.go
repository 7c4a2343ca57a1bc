// Tests of the knobs: the defaults are those of target.toml and plant nothing,
// and a wrong value is refused with the variable's name and what it takes.
package main

import (
	"strings"
	"testing"

	"prony.dev/targets/common/manifesttest"
)

func TestWrongValuesNameVariableAndRemedy(t *testing.T) {
	cases := []struct{ name, value, part string }{
		{"CPU", "2s", "from 0s to 1s"},
		{"LOCK", "5", "such as 500ms"},
		{"ALLOCATE", "-1", "from 0 to 65536"},
		{"ERROR_SHARE", "1.5", "from 0 to 1"},
		{"ERROR_SHARE", "NaN", "from 0 to 1"},
		{"WORKERS", "0", "from 1 to 64"},
		{"DESCRIPTORS", "3", "needs 16"},
		{"GC_PAUSE", "10ms", "COLLECT_EVERY"},
		{"SLOW_WORKER_CPU", "1ms", "WORKERS"},
		{"CLOSE", "yes", "true, false"},
	}
	for _, c := range cases {
		_, err := readSettings(lookupOf(map[string]string{c.name: c.value}))
		if err == nil || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s=%s: got %v; want an error with %q", c.name, c.value, err, c.part)
		}
	}
}

func TestDefaultsOfTheManifestPlantNothing(t *testing.T) {
	knobs := manifesttest.Over(manifesttest.Defaults(t))
	written, err := readSettings(knobs.Lookup)
	if err != nil {
		t.Fatal(err)
	}
	if written != (settings{workers: 1}) {
		t.Errorf("the manifest's defaults plant %+v", written)
	}
	if unread := knobs.Unread("GOGC"); unread != nil {
		t.Errorf("knobs of %v are in target.toml, but nothing reads them", unread)
	}
	if unknown := knobs.Unknown(); unknown != nil {
		t.Errorf("%v are read, but have no knobs with a default in target.toml", unknown)
	}
}

func lookupOf(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}
