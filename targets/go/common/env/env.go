// Package env reads settings from environment variables. A wrong value becomes
// an error that names the variable, the value and what is allowed; all of them
// are reported at once. A variable that is unset or empty has its default.
//
// Deliberately absent: unknown variables, which cannot be distinguished from those of
// other programs.
package env

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Reader collects the errors of what is read through it.
type Reader struct {
	lookup func(string) string
	errs   []error
}

// System reads the environment of the process.
func System() *Reader { return From(os.Getenv) }

// From reads through lookup, which tells "" for what is not set.
func From(lookup func(string) string) *Reader { return &Reader{lookup: lookup} }

// Err joins what was wrong; nil when nothing was.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

// Fail adds an error that a caller found in a value.
func (r *Reader) Fail(format string, arguments ...any) {
	r.errs = append(r.errs, fmt.Errorf(format, arguments...))
}

// Text is the value as it stands.
func (r *Reader) Text(name, byDefault string) string {
	if text := r.lookup(name); text != "" {
		return text
	}
	return byDefault
}

// Bool takes true or false.
func (r *Reader) Bool(name string, byDefault bool) bool {
	return r.Choice(name, strconv.FormatBool(byDefault), "true", "false") == "true"
}

// Choice takes one of choices.
func (r *Reader) Choice(name, byDefault string, choices ...string) string {
	text := r.Text(name, byDefault)
	if !slices.Contains(choices, text) {
		r.Fail("%s=%q is none of %s", name, text, strings.Join(choices, ", "))
		return byDefault
	}
	return text
}

// Int takes a whole number from atLeast to atMost.
func (r *Reader) Int(name string, byDefault, atLeast, atMost int) int {
	text := r.lookup(name)
	if text == "" {
		return byDefault
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < atLeast || n > atMost {
		r.Fail("%s=%q is no whole number from %d to %d", name, text, atLeast, atMost)
		return byDefault
	}
	return n
}

// Duration takes a number with its unit, such as 500ms, 30s or 1h30m.
func (r *Reader) Duration(name string, byDefault, atLeast, atMost time.Duration) time.Duration {
	text := r.lookup(name)
	if text == "" {
		return byDefault
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < atLeast || d > atMost {
		r.Fail("%s=%q is no duration from %s to %s, such as 500ms or 30s", name, text, atLeast, atMost)
		return byDefault
	}
	return d
}

// Address is host and port of a service, both or neither. Where neither is set,
// given is false.
func (r *Reader) Address(prefix string) (host string, port int, given bool) {
	host, port = r.Text(prefix+"_HOST", ""), r.Int(prefix+"_PORT", 0, 1, 65535)
	if host == "" && r.lookup(prefix+"_PORT") == "" {
		return "", 0, false
	}
	if host == "" || port == 0 {
		r.Fail("%s_HOST and %s_PORT belong together: set both, or neither to do without", prefix, prefix)
		return "", 0, false
	}
	return host, port, true
}
