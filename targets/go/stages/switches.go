// The cost of a switch from one goroutine to another: two of them hand a token to
// each other over channels that hold nothing, so that the one that gives it away
// has to wait for the other.
package main

import (
	"fmt"
	"net/http"
	"strconv"

	"prony.dev/targets/common/plain"
)

const switchesMax = 1_000_000

// switched is the data of /switch/{n}.
type switched struct {
	Switches int `json:"switches"`
}

func switchHandler(w http.ResponseWriter, r *http.Request) {
	text := r.PathValue("n")
	count, err := strconv.Atoi(text)
	// Itoa refuses "+1" and "01", which Atoi takes.
	if err != nil || count < 1 || count > switchesMax || strconv.Itoa(count) != text {
		msg := fmt.Sprintf("n must be an integer from 1 to %d", switchesMax)
		plain.WriteJSON(w, http.StatusBadRequest, plain.Answer{Code: http.StatusBadRequest, Msg: msg, Data: plain.Empty{}})
		return
	}
	plain.WriteJSON(w, http.StatusOK, plain.OK(switched{makeSwitches(count)}))
}

// makeSwitches hands the token over count times and returns how often it was
// taken by the one that it was for.
func makeSwitches(count int) int {
	there, back := make(chan int), make(chan int)
	go func() {
		for token := range there {
			back <- token + 1
		}
		close(back)
	}()
	token := 0
	for range count / 2 {
		there <- token + 1
		token = <-back
	}
	close(there)
	if count%2 == 1 {
		// The last one is the end of the other, which this one waits for.
		<-back
		token++
	}
	return token
}
