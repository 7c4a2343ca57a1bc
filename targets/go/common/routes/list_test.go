// Tests of the list: what fits, what does not, and that the first one wins.
package routes

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestTheFirstRouteThatFitsAnswers(t *testing.T) {
	var got string
	list := &List{}
	var order []int
	Each(3, func(number int) {
		order = append(order, number)
		list.Add(http.MethodGet, Path(number, "{id}"), func(_ http.ResponseWriter, _ *http.Request, id string) {
			got = Path(number, id)
		})
	})
	if len(order) != 3 || order[0] != 2 || order[2] != 0 {
		t.Errorf("added in the order %v; want the highest first", order)
	}
	for path, want := range map[string]string{
		"/routes/0/a": "/routes/0/a", "/routes/2/b": "/routes/2/b",
		"/routes/3/a": "", "/routes/1": "", "/routes/1/": "", "/routes/1/a/b": "", "/": "", "/routes//a": "",
	} {
		got = ""
		found := list.ServeHTTP(nil, httptest.NewRequest(http.MethodGet, path, nil))
		if got != want || found != (want != "") {
			t.Errorf("%s: %q, %t; want %q", path, got, found, want)
		}
	}
	if list.ServeHTTP(nil, httptest.NewRequest(http.MethodPost, "/routes/0/a", nil)) {
		t.Error("a route answers to another method")
	}
}
