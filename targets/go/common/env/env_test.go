// Tests of every kind of value: its default, its range and its error.
package env

import (
	"strings"
	"testing"
	"time"
)

func reader(values map[string]string) *Reader {
	return From(func(name string) string { return values[name] })
}

func TestValuesAndDefaults(t *testing.T) {
	r := reader(map[string]string{"B": "false", "N": "7", "D": "90s", "C": "two", "R_HOST": "h", "R_PORT": "9"})
	if r.Bool("B", true) || !r.Bool("NONE", true) {
		t.Error("bool")
	}
	if r.Int("N", 1, 0, 9) != 7 || r.Int("NONE", 1, 0, 9) != 1 {
		t.Error("int")
	}
	if r.Duration("D", 0, 0, time.Hour) != 90*time.Second || r.Duration("NONE", time.Second, 0, time.Hour) != time.Second {
		t.Error("duration")
	}
	if r.Choice("C", "one", "one", "two") != "two" || r.Choice("NONE", "one", "one", "two") != "one" {
		t.Error("choice")
	}
	if host, port, given := r.Address("R"); host != "h" || port != 9 || !given {
		t.Errorf("address %s %d %t", host, port, given)
	}
	if _, _, given := r.Address("NONE"); given {
		t.Error("an address that is not set is given")
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}

func TestErrorsNameVariableAndRange(t *testing.T) {
	cases := []struct {
		name, value string
		read        func(*Reader)
		parts       []string
	}{
		{"B", "yes", func(r *Reader) { r.Bool("B", true) }, []string{`B="yes"`, "true, false"}},
		{"N", "10", func(r *Reader) { r.Int("N", 1, 0, 9) }, []string{`N="10"`, "from 0 to 9"}},
		{"N", "x", func(r *Reader) { r.Int("N", 1, 0, 9) }, []string{`N="x"`, "from 0 to 9"}},
		{"D", "5", func(r *Reader) { r.Duration("D", 0, time.Second, time.Hour) }, []string{`D="5"`, "1s to 1h0m0s"}},
		{"D", "2h", func(r *Reader) { r.Duration("D", 0, time.Second, time.Hour) }, []string{`D="2h"`}},
		{"C", "three", func(r *Reader) { r.Choice("C", "one", "one", "two") }, []string{`C="three"`, "one, two"}},
		{"R_HOST", "h", func(r *Reader) { r.Address("R") }, []string{"R_PORT", "together"}},
		{"R_PORT", "70000", func(r *Reader) { r.Address("R") }, []string{"R_PORT", "65535"}},
	}
	for _, c := range cases {
		r := reader(map[string]string{c.name: c.value})
		c.read(r)
		if r.Err() == nil {
			t.Errorf("%s=%s: no error", c.name, c.value)
			continue
		}
		for _, part := range c.parts {
			if !strings.Contains(r.Err().Error(), part) {
				t.Errorf("%q lacks %q", r.Err(), part)
			}
		}
	}
}
