// The rules for parameters. A text is plain decimal when it has digits only and
// no leading 0, which parsers of all languages can agree on.
package contract

import (
	"strconv"
)

// HopsMax is the most layers of /hops/{k}: Gin takes at most 62 handlers in a row.
const HopsMax = 60

// Users of the table, queries of one request and layers of middleware.
const (
	userCount    = 100_000
	queriesMin   = 1
	queriesMax   = 20
	layersMax    = 3
	keyLenMax    = 64
	callsMin     = 2
	callsMax     = 8
	callsDefault = 5
	timesMax     = 100_000
	objectMax    = 10_000_000
)

// ParseHops reads k and times of /hops/{k}?times=t; times is "" where it is not given.
func ParseHops(kText, timesText string) (k, times int, ok bool) {
	k, ok = ParseID(kText)
	if !ok || k > HopsMax {
		return 0, 0, false
	}
	times, ok = ParseTimes(timesText)
	return k, times, ok
}

// ParseTimes reads how often something is done within one request: 1 to 100,000,
// and 1 where text is empty.
func ParseTimes(text string) (times int, ok bool) {
	if text == "" {
		return 1, true
	}
	times, ok = ParseID(text)
	return times, ok && times >= 1 && times <= timesMax
}

// ParseCalls reads id and calls of /complex/{id}?calls=n; calls is 5 where it is
// not given.
func ParseCalls(idText, callsText string) (id, calls int, ok bool) {
	id, ok = ParseID(idText)
	if !ok || id < 1 || id > userCount {
		return 0, 0, false
	}
	if callsText == "" {
		return id, callsDefault, true
	}
	calls, ok = ParseID(callsText)
	return id, calls, ok && calls >= callsMin && calls <= callsMax
}

// ParseObjects reads n of /allocate/{n}.
func ParseObjects(text string) (n int, ok bool) {
	n, ok = ParseID(text)
	return n, ok && n >= 1 && n <= objectMax
}

// ParseID reads the id of a user. Any plain decimal number is one; what is
// larger than an int is read as the largest, which no user has.
func ParseID(text string) (id int, ok bool) {
	if text == "" || (text[0] == '0' && text != "0") {
		return 0, false
	}
	for k := range len(text) {
		if text[k] < '0' || text[k] > '9' {
			return 0, false
		}
	}
	// Atoi gives the largest int with its error of range.
	id, _ = strconv.Atoi(text)
	return id, true
}

// NextID is the id after id: 1 comes after the last user.
func NextID(id int) int {
	if id == userCount {
		return 1
	}
	return id + 1
}

// ParseQueries reads how many users /db/{id} is asked for.
func ParseQueries(text string) (queries int, ok bool) {
	queries, ok = ParseID(text)
	return queries, ok && queries >= queriesMin && queries <= queriesMax
}

// ParseLayers reads k of /middleware/{k}.
func ParseLayers(text string) (k int, ok bool) {
	k, ok = ParseID(text)
	return k, ok && k <= layersMax
}

// ValidKey tells whether key may be asked of the cache.
func ValidKey(key string) bool {
	for k := range len(key) {
		c := key[k]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return len(key) >= 1 && len(key) <= keyLenMax
}
