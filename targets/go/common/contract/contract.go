// Package contract holds the answers that every Go target must give alike: the
// envelope, the rules for parameters, and the records of /json/{n}.
//
// It builds values only. Routing and JSON encoding are what a framework does,
// and so what is measured; they stay in each target. Nothing here is cached:
// each call builds its own values, because that work belongs to the request.
package contract

import (
	"fmt"
	"net/http"
	"strconv"
)

//go:generate easyjson -all -no_std_marshalers contract.go

// Limits of n in /json/{n}. The upper one bounds an answer to 8000 records,
// about 1 MB.
const (
	countMin = 1
	countMax = 1000

	recordsPerCount = 8
)

// Answer is the envelope of every route but /health and /file.
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

// RecordList is the data of /json/{n} and /grpc/{n}.
//
//easyjson:json
type RecordList []Record

// User is a row of the table users, and the data of /db/{id}.
type User struct {
	ID     int     `json:"id"`
	Name   string  `json:"name"`
	Email  string  `json:"email"`
	Age    int     `json:"age"`
	Active bool    `json:"active"`
	Score  float64 `json:"score"`
}

// Users is the data of /db/{id}?queries=q and /db/scan.
type Users struct {
	Users []User `json:"users"`
}

// Subject is the data of /auth.
type Subject struct {
	Sub string `json:"sub"`
}

// Cached is the data of /cache/{key}.
type Cached struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Layers is the data of /middleware/{k}.
type Layers struct {
	Layers int `json:"layers"`
}

// Mixed is the data of /mixed.
type Mixed struct {
	User    User       `json:"user"`
	Cached  Cached     `json:"cached"`
	Records RecordList `json:"records"`
}

// Upload is the data of /upload.
type Upload struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Health is the answer of /health.
type Health struct {
	Status string `json:"status"`
}

// OK wraps the data of a good answer.
func OK(data any) Answer {
	return Answer{Code: 0, Msg: "ok", Data: data}
}

// Fail is the answer of an error with this HTTP status.
func Fail(status int, msg string) Answer {
	return Answer{Code: status, Msg: msg, Data: Empty{}}
}

// Status is the HTTP status that the answer is sent with.
func (a Answer) Status() int {
	if a.Code == 0 {
		return http.StatusOK
	}
	return a.Code
}

// Empty is the data of an answer that has none; it encodes as {}.
type Empty struct{}

// BadCount is the answer, sent with status 400, to an n that ParseCount refuses.
func BadCount() Answer {
	return Fail(http.StatusBadRequest, fmt.Sprintf("n must be an integer from %d to %d", countMin, countMax))
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
func Records(n int) RecordList {
	records := make(RecordList, recordsPerCount*n)
	for k := range records {
		records[k] = NewRecord(k + 1)
	}
	return records
}

// NewRecord builds the record with this id.
func NewRecord(id int) Record {
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
