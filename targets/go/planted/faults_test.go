// Tests that each fault is there when it is switched on, by what the process
// reports on itself. None of them measures time.
package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"prony.dev/targets/common/plain/plaintest"
)

func with(t *testing.T, pairs ...string) *faults {
	t.Helper()
	values := map[string]string{}
	for k := 0; k < len(pairs); k += 2 {
		values[pairs[k]] = pairs[k+1]
	}
	s, err := readSettings(lookupOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return newFaults(s)
}

func planted(t *testing.T, f *faults) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	routes(f).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/planted", nil))
	return recorder
}

func TestContract(t *testing.T) {
	plaintest.Check(t, routes(with(t)), "../../..")
}

func TestAnswersAreThoseOfPingWhateverIsPlanted(t *testing.T) {
	const want = `{"code":0,"msg":"ok","data":{}}`
	for _, f := range []*faults{
		with(t), with(t, "CPU", "10us"), with(t, "KERNEL_READS", "2"), with(t, "LOCK", "1us"),
		with(t, "SLOTS", "1", "HOLD", "1us"), with(t, "ALLOCATE", "8"), with(t, "TWO_WRITES", "true"),
		with(t, "COLD", "1s", "COLD_CPU", "10us"), with(t, "LEAK_MEMORY", "1"),
	} {
		if answer := planted(t, f); answer.Code != http.StatusOK || strings.TrimSpace(answer.Body.String()) != want {
			t.Errorf("%+v: answers %d %s", f.settings, answer.Code, answer.Body)
		}
	}
}

func TestErrorsComeWithTheirShare(t *testing.T) {
	if answer := planted(t, with(t, "ERROR_SHARE", "1")); answer.Code != http.StatusInternalServerError {
		t.Errorf("status %d; want 500", answer.Code)
	}
}

func TestLeaksAreKept(t *testing.T) {
	f := with(t, "LEAK_MEMORY", "4", "LEAK_GOROUTINES", "3", "LEAK_DESCRIPTOR_EVERY", "2")
	defer close(f.forever)
	before := runtime.NumGoroutine()
	for range 10 {
		planted(t, f)
	}
	if len(f.memory) != 10 || len(f.memory[0]) != 4<<10 || len(f.files) != 5 {
		t.Errorf("%d blocks and %d files are kept; want 10 and 5", len(f.memory), len(f.files))
	}
	if more := runtime.NumGoroutine() - before; more < 30 {
		t.Errorf("%d goroutines more; want 30", more)
	}
	for _, file := range f.files {
		file.Close()
	}
}

func TestThePoolCountsWhoWaits(t *testing.T) {
	f := with(t, "SLOTS", "1")
	f.pool.slots <- struct{}{} // taken
	done := make(chan struct{})
	go func() {
		f.pool.use(0)
		close(done)
	}()
	for f.pool.waiting.Load() == 0 {
		runtime.Gosched()
	}
	<-f.pool.slots
	<-done
	recorder := httptest.NewRecorder()
	routes(f).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/debug/runtime", nil))
	var answer map[string]any
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	told, _ := answer["pool"].(map[string]any)
	for name, want := range map[string]any{"max": 1.0, "in_use": 0.0, "idle": 1.0, "waiting": 0.0, "waits": 1.0} {
		if told[name] != want {
			t.Errorf("%s is %v; want %v", name, told[name], want)
		}
	}
	if waited, _ := told["wait_ns"].(float64); waited <= 0 {
		t.Errorf("a wait took %v ns", told["wait_ns"])
	}
	if _, there := answer["/sched/goroutines:goroutines"]; !there {
		t.Error("the readings of the runtime are gone")
	}
}

func TestDialsTheBackend(t *testing.T) {
	backend, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go serveBackend(backend)
	f := with(t, "DIAL", "true")
	f.backend = backend.Addr().String()
	if err := f.dial(); err != nil {
		t.Error(err)
	}
	backend.Close()
	if err := f.dial(); err == nil {
		t.Error("a backend that is gone is no error")
	}
}

func TestTheFileIsReadAndHasNoName(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f := with(t, "READ_FILE", "2")
	if err := f.writeFile(); err != nil {
		t.Fatal(err)
	}
	defer f.file.Close()
	if answer := planted(t, f); answer.Code != http.StatusOK {
		t.Errorf("answers %d %s", answer.Code, answer.Body)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestColdRequestsCostLessAndLess(t *testing.T) {
	f := with(t, "COLD", "1h", "COLD_CPU", "1ms")
	first := f.coldNow()
	if later := f.coldNow(); first <= 0 || later > first {
		t.Errorf("%s at first, %s later", first, later)
	}
	f.coldFrom = func() time.Time { return time.Now().Add(-2 * time.Hour) }
	if over := f.coldNow(); over != 0 {
		t.Errorf("%s after the end", over)
	}
}

func TestAShortQueueListens(t *testing.T) {
	listener, err := listen("127.0.0.1:0", settings{backlog: 1, twoWrites: true})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if connection, err := listener.Accept(); err == nil {
			_, _ = io.WriteString(connection, "hello")
			connection.Close()
		}
	}()
	connection, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if text, err := io.ReadAll(connection); err != nil || string(text) != "hello" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestSeveralProcessesMayShareAPort(t *testing.T) {
	s := settings{workers: 2}
	first, err := listen("127.0.0.1:0", s)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := listen(first.Addr().String(), s)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}

func TestCollectingHasCyclesOfItsOwn(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	with(t, "COLLECT_EVERY", "1s").collectOnce()
	runtime.ReadMemStats(&after)
	if after.NumForcedGC == before.NumForcedGC {
		t.Error("the collector was not run")
	}
}

func TestTheHeapHasItsSize(t *testing.T) {
	nodes := 0
	for n := heap(1); n != nil; n = n.next {
		nodes++
	}
	if nodes*nodeBytes != mebibytes {
		t.Errorf("%d nodes of %d bytes", nodes, nodeBytes)
	}
}
