// Package hops passes a request through a number of empty layers, many times
// within one request of a client: what a layer costs is nanoseconds, which only
// many of them make visible beside the request itself.
//
// The chains are the framework's own, which the target builds; each is built when
// it is first asked for and kept, so that other routes pay nothing for them.
package hops

import (
	"net/http"
	"sync"

	"prony.dev/targets/common/contract"
)

// Chains holds a router behind k empty layers for each k.
type Chains struct {
	chains [contract.HopsMax + 1]func() http.Handler
}

// New makes chains of what build makes: an empty answer to "GET /" behind k
// layers that only call the next one.
func New(build func(k int) http.Handler) *Chains {
	c := &Chains{}
	for k := range c.chains {
		c.chains[k] = sync.OnceValue(func() http.Handler { return build(k) })
	}
	return c
}

// Answer is that of /hops/{k}?times=t, after so many passes.
func (c *Chains) Answer(k, times string) contract.Answer {
	layers, passes, ok := contract.ParseHops(k, times)
	if !ok {
		return contract.Fail(http.StatusBadRequest, "k must be an integer from 0 to 60, times one from 1 to 100000")
	}
	handler := c.chains[layers]()
	request, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		return contract.Fail(http.StatusInternalServerError, err.Error())
	}
	out := &nowhere{header: http.Header{}}
	for range passes {
		handler.ServeHTTP(out, request)
	}
	return contract.OK(contract.Hops{Hops: layers, Times: out.answers})
}

// nowhere is the response of a pass; it counts the answers, so that a chain that
// ends early is noticed.
type nowhere struct {
	header  http.Header
	answers int
}

func (n *nowhere) Header() http.Header            { return n.header }
func (n *nowhere) Write(body []byte) (int, error) { return len(body), nil }
func (n *nowhere) WriteHeader(status int) {
	if status == http.StatusNoContent {
		n.answers++
	}
}
