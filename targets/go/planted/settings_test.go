// Tests of the knobs: the defaults are those of target.toml and plant nothing,
// and a wrong value is refused with the variable's name and what it takes.
package main

import (
	"bufio"
	"os"
	"strings"
	"testing"
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
	manifest := manifestDefaults(t)
	asked := map[string]bool{}
	written, err := readSettings(func(name string) string { asked[name] = true; return manifest[name] })
	if err != nil {
		t.Fatal(err)
	}
	if written != (settings{workers: 1}) {
		t.Errorf("the manifest's defaults plant %+v", written)
	}
	for name := range manifest {
		if !asked[name] && name != "GOGC" {
			t.Errorf("the knob of %s is in target.toml, but nothing reads it", name)
		}
	}
	for name := range asked {
		if _, known := manifest[name]; !known {
			t.Errorf("%s is read, but has no knob with a default in target.toml", name)
		}
	}
}

func lookupOf(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
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
