// Tests of the replicas behind a real nginx, where there is one: the contract, the
// shares of each method, and the stop. They wait on requests, never on time.
package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"prony.dev/targets/common/manifesttest"
	"prony.dev/targets/common/plain"
	"prony.dev/targets/common/plain/plaintest"
)

// The test binary is what the fleet starts as a replica.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveArgument {
		plain.End(serve())
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestContract(t *testing.T) {
	plaintest.Check(t, plain.Routes(), "../../..")
}

func lookup(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestSettings(t *testing.T) {
	for name, values := range map[string]map[string]bool{
		"INSTANCES":    {"1": true, "4": true, "0": false, "5": false, "x": false},
		"FIRST_WEIGHT": {"100": true, "0": false, "101": false},
		"BALANCE":      {"least-conn": true, "ip-hash": true, "random": false},
	} {
		for value, good := range values {
			_, err := readSettings(lookup(map[string]string{name: value}))
			if (err == nil) != good || !good && !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		}
	}
	knobs := manifesttest.Over(manifesttest.Defaults(t))
	written, err := readSettings(knobs.Lookup)
	byDefault, _ := readSettings(lookup(nil))
	if err != nil || written != byDefault {
		t.Errorf("the manifest's defaults give %+v, %v; want %+v", written, err, byDefault)
	}
	if unread := knobs.Unread("PPROF", "PROFILE_RATES"); unread != nil {
		t.Errorf("knobs of %v are in target.toml, but nothing reads them", unread)
	}
}

// shares starts a fleet, asks it so many requests and returns what each replica
// has served of them.
func shares(t *testing.T, values map[string]string, requests int) []uint64 {
	t.Helper()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Skip("nginx is not on PATH")
	}
	chosen, err := readSettings(lookup(values))
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	signals, done := make(chan os.Signal, 1), make(chan error, 1)
	go func() { done <- run(chosen, address, signals) }()
	get := func(path string) []byte {
		for {
			answer, err := http.Get("http://" + address + path)
			if err == nil {
				body, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				return body
			}
			select {
			case ended := <-done:
				t.Fatalf("the fleet ended: %v", ended)
			case <-time.After(5 * time.Millisecond): // nginx does not say when it listens
			}
		}
	}
	for range requests {
		if body := string(get("/ping")); body != "{\"code\":0,\"msg\":\"ok\",\"data\":{}}\n" {
			t.Fatalf("got %q", body)
		}
	}
	var told struct {
		Requests uint64
		Replicas []uint64
	}
	if err := json.Unmarshal(get("/debug/runtime"), &told); err != nil {
		t.Fatal(err)
	}
	if told.Requests != uint64(requests) {
		t.Errorf("%d of %d requests were counted", told.Requests, requests)
	}
	http.DefaultClient.CloseIdleConnections()
	signals <- syscall.SIGTERM
	if err := <-done; err != nil {
		t.Errorf("the stop ended with %v", err)
	}
	again, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("the port is not free after the stop: %v", err)
	}
	again.Close()
	return told.Replicas
}

func TestRoundRobinIsEven(t *testing.T) {
	for k, served := range shares(t, map[string]string{"INSTANCES": "4"}, 40) {
		if served != 10 {
			t.Errorf("replica %d served %d of 40; want 10", k, served)
		}
	}
}

func TestWeightAndHashAreNot(t *testing.T) {
	if got := shares(t, map[string]string{"FIRST_WEIGHT": "4"}, 50); got[0] != 40 || got[1] != 10 {
		t.Errorf("weights 4 and 1 gave %v of 50", got)
	}
	got := shares(t, map[string]string{"INSTANCES": "3", "BALANCE": "ip-hash"}, 30)
	if most := max(got[0], got[1], got[2]); most != 30 {
		t.Errorf("one client address gave %v; want all on one replica", got)
	}
}
