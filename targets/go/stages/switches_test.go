// Tests that each hand-over is counted, and what is no number of them refused.
package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestEachSwitchIsCounted(t *testing.T) {
	for _, count := range []int{1, 2, 3, 1000} {
		if got := makeSwitches(count); got != count {
			t.Errorf("%d switches; want %d", got, count)
		}
	}
	router := newRouter(with(t))
	for _, path := range []string{"/switch/0", "/switch/1000001", "/switch/+1", "/switch/x"} {
		if got := get(router, path); got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), `"code":400`) {
			t.Errorf("%s: %d %s; want 400", path, got.Code, got.Body)
		}
	}
}
