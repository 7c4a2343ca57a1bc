// Tests of taking over and of drawing ids.
package trace

import (
	"regexp"
	"strings"
	"testing"
)

const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"

var form = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

func TestTakesOverTheTrace(t *testing.T) {
	got := Answer(good)
	if !form.MatchString(got) || got[:36] != good[:36] || got[52:] != good[52:] || got[36:52] == good[36:52] {
		t.Errorf("got %s for %s; want its trace and flags with another span", got, good)
	}
}

func TestDrawsATrace(t *testing.T) {
	wrong := []string{
		"", "x", good + "0", "01" + good[2:], strings.ToUpper(good),
		"00-" + strings.Repeat("0", 32) + good[35:], good[:36] + strings.Repeat("0", 16) + good[52:],
		strings.Replace(good, "4736-", "4736x", 1), good[:53] + "zz",
	}
	seen := map[string]bool{}
	for _, header := range wrong {
		got := Answer(header)
		if !form.MatchString(got) || strings.HasPrefix(header, got[:35]) || seen[got[3:35]] {
			t.Errorf("%q: got %s; want a new trace", header, got)
		}
		seen[got[3:35]] = true
	}
}
