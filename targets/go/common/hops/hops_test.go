// Tests that a pass is counted only where it reached the end of its chain.
package hops

import (
	"net/http"
	"testing"

	"prony.dev/targets/common/contract"
)

func TestEachPassGoesThroughItsLayers(t *testing.T) {
	passed := map[int]int{}
	chains := New(func(k int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			passed[k]++
			if k < 3 {
				w.WriteHeader(http.StatusNoContent)
			}
		})
	})
	if got := chains.Answer("2", "5"); got != contract.OK(contract.Hops{Hops: 2, Times: 5}) || passed[2] != 5 {
		t.Errorf("%+v after %d passes; want 5", got, passed[2])
	}
	if got := chains.Answer("3", ""); got != contract.OK(contract.Hops{Hops: 3, Times: 0}) {
		t.Errorf("%+v; a chain without an answer counts none", got)
	}
	for _, bad := range [][2]string{{"61", "1"}, {"-1", "1"}, {"1", "0"}, {"1", "100001"}, {"x", "1"}, {"1", "x"}} {
		if got := chains.Answer(bad[0], bad[1]); got.Code != http.StatusBadRequest {
			t.Errorf("%v: %+v; want 400", bad, got)
		}
	}
}
