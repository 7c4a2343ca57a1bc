// Tests of the profiles that are served: only where they are turned on, and no
// sampling of allocations where they are not.
package profiling

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
)

func lookup(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestOffIsOff(t *testing.T) {
	if runtime.MemProfileRate != 0 {
		t.Errorf("MemProfileRate is %d without %s; want 0", runtime.MemProfileRate, servesVariable)
	}
	serves, err := Serves(lookup(nil))
	if serves || err != nil {
		t.Errorf("Serves() = %v, %v; want false, nil", serves, err)
	}
	if status := status(Around(http.NotFoundHandler(), serves), "/debug/pprof/goroutine"); status != http.StatusNotFound {
		t.Errorf("status %d; want 404", status)
	}
}

func TestServed(t *testing.T) {
	wanted := lookup(map[string]string{servesVariable: "true", ratesVariable: "true"})
	setRates(wanted)
	serves, err := Serves(wanted)
	if !serves || err != nil {
		t.Fatalf("Serves() = %v, %v; want true, nil", serves, err)
	}
	t.Cleanup(func() {
		runtime.SetBlockProfileRate(0)
		runtime.SetMutexProfileFraction(0)
	})
	if fraction := runtime.SetMutexProfileFraction(-1); fraction != mutexFraction {
		t.Errorf("mutex fraction %d; want %d", fraction, mutexFraction)
	}
	handler := Around(http.NotFoundHandler(), serves)
	for _, kind := range []string{"goroutine", "heap", "allocs", "block", "mutex", "trace?seconds=0.01"} {
		if status := status(handler, "/debug/pprof/"+kind); status != http.StatusOK {
			t.Errorf("%s: status %d; want 200", kind, status)
		}
	}
	if status := status(handler, "/ping"); status != http.StatusNotFound {
		t.Errorf("other paths: status %d; want that of the next handler", status)
	}
}

func TestWrongValue(t *testing.T) {
	for _, name := range []string{servesVariable, ratesVariable} {
		_, err := Serves(lookup(map[string]string{name: "yes"}))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=yes: error %v; want one that names it", name, err)
		}
	}
}

func status(handler http.Handler, path string) int {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder.Code
}
