// Tests over loopback: the answers, and a stop that frees the port. They wait on
// pipes and channels, never on time.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"
)

func get(path string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	routes().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder
}

func TestRecordsAreThoseOfTheContract(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/json-1.json")
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(get("/records/1").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v; want %v", got, want)
	}
}

func TestLimitsOfN(t *testing.T) {
	for path, status := range map[string]int{
		"/records/1000": 200, "/records/0": 400, "/records/1001": 400, "/records/+1": 400, "/records/x": 400,
		"/records/1?wait=1ms": 200, "/records/1?wait=6s": 400, "/records/1?wait=-1s": 400, "/records/1?wait=x": 400,
		"/health": 200, "/nope": 404,
	} {
		if got := get(path).Code; got != status {
			t.Errorf("%s: status %d; want %d", path, got, status)
		}
	}
}

func TestStopFreesThePort(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, "127.0.0.1:0", writer)
		writer.CloseWithError(io.EOF)
		done <- err
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatalf("no line on stderr: %v; run ended with %v", err, <-done)
	}
	address, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "listening on ")
	if !ok {
		t.Fatalf("got line %q; want listening on ADDR", line)
	}
	answer, err := http.Get("http://" + address + "/records/1")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if err := run(t.Context(), address, io.Discard); err == nil || !strings.Contains(err.Error(), "set LISTEN") {
		t.Errorf("a taken port: got %v", err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("the stop ended with %v", err)
	}
	again, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("the port is not free after the stop: %v", err)
	}
	again.Close()
}
