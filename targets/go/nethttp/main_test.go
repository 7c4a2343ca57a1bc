// Tests of the routes without a socket: the contract that all Go targets share.
package main

import (
	"testing"

	"prony.dev/targets/common/contracttest"
)

func TestContract(t *testing.T) {
	contracttest.Check(t, newRouter())
}
