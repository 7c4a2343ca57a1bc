// Package allocate makes objects that live for a moment each, as /allocate/{n}
// asks: the last 1,024 are held, so that none can be left out by the compiler and
// none grows old.
package allocate

import "prony.dev/targets/common/contract"

const held = 1024

// object is two words and a pointer, which the collector has to follow.
type object struct {
	number int
	square int
	self   *object
}

// Objects makes count of them. Each number is read back when its object is let go,
// so that the sum is 1 + 2 + … + count for whoever lost none. With cycles each
// object points at itself, which a count of references alone never frees.
func Objects(count int, cycles bool) contract.Allocated {
	var ring [held]*object
	sum := 0
	for k := 1; k <= count; k++ {
		made := &object{number: k, square: k * k}
		if cycles {
			made.self = made
		}
		place := k % held
		if before := ring[place]; before != nil {
			sum += before.number
		}
		ring[place] = made
	}
	for _, left := range ring {
		if left != nil {
			sum += left.number
		}
	}
	return contract.Allocated{Objects: count, Sum: sum}
}
