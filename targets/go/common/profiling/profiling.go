// Package profiling serves Go's profiles below /debug/pprof/ where PPROF is
// true, so that prony can take them under a load that is for that alone.
//
// Where it is not, the sampler of allocations is off too: linking net/http/pprof
// would turn it on, and every measurement would pay for it. PROFILE_RATES
// turns on the sampling of blocking and of contended mutexes, which costs more.
//
// It imports the standard library only. Deliberately absent: the command line of
// the process.
package profiling

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime"
	"strings"
)

const (
	servesVariable = "PPROF"
	ratesVariable  = "PROFILE_RATES"

	base = "/debug/pprof/"

	// One blocking event is sampled for so many nanoseconds of waiting, and one in
	// so many contentions.
	blockRate     = 10_000
	mutexFraction = 10
)

// The runtime reads the rates when it allocates and waits; nothing of ours has
// run yet. A wrong value counts as false until Serves reports it.
func init() { setRates(os.Getenv) }

func setRates(lookup func(string) string) {
	if serves, _ := truth(lookup, servesVariable); !serves {
		runtime.MemProfileRate = 0
	}
	if rates, _ := truth(lookup, ratesVariable); rates {
		runtime.SetBlockProfileRate(blockRate)
		runtime.SetMutexProfileFraction(mutexFraction)
	}
}

// Serves tells whether profiles are wanted. An error names the variable and what
// is allowed.
func Serves(lookup func(string) string) (bool, error) {
	serves, err := truth(lookup, servesVariable)
	_, wrong := truth(lookup, ratesVariable)
	return serves, errors.Join(err, wrong)
}

func truth(lookup func(string) string, name string) (bool, error) {
	switch text := lookup(name); text {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, fmt.Errorf("%s=%q is none of true, false", name, text)
	}
}

// Handler answers below /debug/pprof/.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+base, pprof.Index)
	mux.HandleFunc("GET "+base+"profile", pprof.Profile)
	mux.HandleFunc("GET "+base+"trace", pprof.Trace)
	return mux
}

// Around is next where no profiles are wanted, else next with Handler before it.
func Around(next http.Handler, serves bool) http.Handler {
	if !serves {
		return next
	}
	profiles := Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, base) {
			profiles.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
