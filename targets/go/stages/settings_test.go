// Tests of the knobs: the defaults are those of target.toml, and a wrong value
// is refused with the variable's name and what it takes.
package main

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"
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
// readElsewhere names what the Go runtime and common/profiling read themselves.
var readElsewhere = map[string]bool{"GOGC": true, "PPROF": true, "PROFILE_RATES": true}

func TestManifestHasTheDefaults(t *testing.T) {
	manifest := manifestDefaults(t)
	if len(manifest) < 11 {
		t.Fatalf("only %d knobs with defaults found in target.toml: %v", len(manifest), manifest)
	}
	plain, err := readSettings(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	written, err := readSettings(func(name string) string { asked[name] = true; return manifest[name] })
	if err != nil {
		t.Fatal(err)
	}
	if plain != written {
		t.Errorf("without variables %+v; with the manifest's defaults %+v", plain, written)
	}
	for name := range manifest {
		if !asked[name] && !readElsewhere[name] {
			t.Errorf("the knob of %s is in target.toml, but nothing reads it", name)
		}
	}
	if plain.wait != 10*time.Millisecond || plain.stage != "naive" {
		t.Errorf("defaults are %+v; want study B's naive stage", plain)
	}
}

// manifestDefaults reads variable and default of each knob: its lines are
// `default = "…"` and `env = "…"` below `[[knob]]`.
func manifestDefaults(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open("target.toml")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defaults := map[string]string{}
	var value string
	var given bool
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		key, text, _ := strings.Cut(lines.Text(), " = ")
		switch {
		case lines.Text() == "[[knob]]":
			given = false
		case key == "default":
			value, given = strings.Trim(text, `"`), true
		case key == "env" && given:
			defaults[strings.Trim(text, `"`)] = value
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return defaults
}
