// The records of /json/{n}, built for each call, because that work belongs to the
// request. The values are those of targets/go/common/contract; a test holds them
// to scenarios/json-1.json. They are written out here so that a service depends on
// no target.
package main

import "fmt"

// Limits of n. The upper one bounds an answer to 8000 records, about 1 MB.
const (
	countMin = 1
	countMax = 1000

	recordsPerCount = 8
)

type answer struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

type record struct {
	ID     int      `json:"id"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Age    int      `json:"age"`
	Active bool     `json:"active"`
	Score  float64  `json:"score"`
	Tags   []string `json:"tags"`
}

func records(n int) []record {
	all := make([]record, recordsPerCount*n)
	for k := range all {
		id := k + 1
		name := fmt.Sprintf("user-%06d", id)
		all[k] = record{id, name, name + "@example.com", 18 + id*7%50, id%2 == 0, float64(id) * 1.5, tags(id)}
	}
	return all
}

// tags rotates alpha, beta, gamma to the left by id places.
func tags(id int) []string {
	names := [...]string{"alpha", "beta", "gamma"}
	rotated := make([]string, len(names))
	for k := range rotated {
		rotated[k] = names[(k+id)%len(names)]
	}
	return rotated
}
