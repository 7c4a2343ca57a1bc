// Package manifesttest holds a target's settings against the knobs of its
// target.toml, so that neither names what the other lacks.
package manifesttest

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// Defaults reads variable and default of each knob from the target.toml of the
// package under test: its lines are `default = "…"` and `env = "…"` below `[[knob]]`.
func Defaults(t *testing.T) map[string]string {
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
	if len(defaults) == 0 {
		t.Fatal("target.toml has no knob with a default and a variable")
	}
	return defaults
}

// Asked notes which variables are looked up among values.
type Asked struct {
	values map[string]string
	asked  map[string]bool
}

// Over looks variables up in values.
func Over(values map[string]string) *Asked {
	return &Asked{values: values, asked: map[string]bool{}}
}

// Lookup is the value of a variable, empty where it has none.
func (a *Asked) Lookup(name string) string {
	a.asked[name] = true
	return a.values[name]
}

// Unread are the knobs that nothing has asked for; elsewhere names what the
// runtime or a library reads itself.
func (a *Asked) Unread(elsewhere ...string) []string {
	known := map[string]bool{}
	for _, name := range elsewhere {
		known[name] = true
	}
	var unread []string
	for name := range a.values {
		if !a.asked[name] && !known[name] {
			unread = append(unread, name)
		}
	}
	return unread
}

// Unknown are the variables that were asked for and are no knob.
func (a *Asked) Unknown() []string {
	var unknown []string
	for name := range a.asked {
		if _, ok := a.values[name]; !ok {
			unknown = append(unknown, name)
		}
	}
	return unknown
}
