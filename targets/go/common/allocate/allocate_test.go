// Tests that every object is made, on the heap.
package allocate

import "testing"

func TestEveryObjectIsMade(t *testing.T) {
	for _, count := range []int{1, held - 1, held, held + 1, 100_000} {
		for _, cycles := range []bool{false, true} {
			if got := Objects(count, cycles); got.Objects != count || got.Sum != count*(count+1)/2 {
				t.Errorf("%d objects, cycles %t: %+v", count, cycles, got)
			}
		}
	}
	if made := testing.AllocsPerRun(3, func() { Objects(10_000, false) }); made < 10_000 {
		t.Errorf("%g of 10000 objects are on the heap", made)
	}
}
