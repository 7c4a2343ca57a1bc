// Package contract holds the answers that every Go target must give alike: the
// envelope, the rule for n, and the records of /json/{n}.
//
// It builds values only. Routing and JSON encoding are what a framework does,
// and so what is measured; they stay in each target. Nothing here is cached:
// each call builds its values anew, because that work belongs to the request.
package contract

import (
	"fmt"
	"strconv"
)

// Limits of n in /json/{n}. The upper one bounds an answer to 8000 records,
// about 1 MB.
const (
	countMin = 1
	countMax = 1000

	recordsPerCount = 8
)

// Answer is the envelope of /ping and /json/{n}.
type Answer struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data"`
}

// Record is one element of the data of /json/{n}.
type Record struct {
	ID     int      `json:"id"`
	Name   string   `json:"name"`
	Email  string   `json:"email"`
	Age    int      `json:"age"`
	Active bool     `json:"active"`
	Score  float64  `json:"score"`
	Tags   []string `json:"tags"`
}

// Health is the answer of /health.
type Health struct {
	Status string `json:"status"`
}

// OK wraps the data of a good answer.
func OK(data any) Answer {
	return Answer{Code: 0, Msg: "ok", Data: data}
}

// Empty is the data of an answer that has none; it encodes as {}.
type Empty struct{}

// BadCount is the answer, sent with status 400, to an n that ParseCount refuses.
func BadCount() Answer {
	msg := fmt.Sprintf("n must be an integer from %d to %d", countMin, countMax)
	return Answer{Code: 400, Msg: msg, Data: Empty{}}
}

// ParseCount reads n. It takes plain decimal digits only: "+1" and "01" are
// refused, so that targets in other languages, whose parsers differ there, can
// agree. It reports whether n is an integer from 1 to 1000.
func ParseCount(text string) (n int, ok bool) {
	n, err := strconv.Atoi(text)
	if err != nil || n < countMin || n > countMax || strconv.Itoa(n) != text {
		return 0, false
	}
	return n, true
}

// Records builds the 8*n records of /json/{n}, numbered from 1. The caller has
// checked n with ParseCount.
func Records(n int) []Record {
	records := make([]Record, recordsPerCount*n)
	for k := range records {
		records[k] = record(k + 1)
	}
	return records
}

func record(id int) Record {
	return Record{
		ID:     id,
		Name:   fmt.Sprintf("user-%06d", id),
		Email:  fmt.Sprintf("user-%06d@example.com", id),
		Age:    18 + (id*7)%50,
		Active: id%2 == 0,
		Score:  float64(id) * 1.5,
		Tags:   tags(id),
	}
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
