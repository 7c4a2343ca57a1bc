// Tests of binding, serving and stopping over real loopback sockets. They wait
// on channels and pipes, never on a guess of time.
package serve

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// running is a server started by start.
type running struct {
	address string
	stop    context.CancelFunc
	done    chan error
}

// start runs handler on a port the system chooses and waits for the line that
// says which one.
func start(t *testing.T, handler http.Handler, grace time.Duration) running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, "127.0.0.1:0", handler, writer, grace)
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
	return running{address, stop, done}
}

// held is a handler that reports when a request is in it and ends on release.
type held struct {
	entered chan struct{}
	release chan struct{}
}

func newHeld() held {
	return held{make(chan struct{}), make(chan struct{})}
}

func (h held) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	close(h.entered)
	<-h.release
	_, _ = io.WriteString(w, "done")
}

func fetch(address string) (string, error) {
	answer, err := http.Get("http://" + address + "/")
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return string(body), err
}

type fetched struct {
	body string
	err  error
}

func fetchLater(address string) chan fetched {
	result := make(chan fetched, 1)
	go func() {
		body, err := fetch(address)
		result <- fetched{body, err}
	}()
	return result
}

func TestServesAndFreesThePort(t *testing.T) {
	server := start(t, http.NotFoundHandler(), shutdownGrace)
	body, err := fetch(server.address)
	if err != nil || !strings.Contains(body, "404") {
		t.Errorf("got %q, %v; want the handler's answer", body, err)
	}
	server.stop()
	if err := <-server.done; err != nil {
		t.Errorf("a stop without requests ended with %v", err)
	}
	again, err := net.Listen("tcp", server.address)
	if err != nil {
		t.Fatalf("the port is not free after the stop: %v", err)
	}
	again.Close()
}

func TestStopLetsARequestInFlightEnd(t *testing.T) {
	handler := newHeld()
	server := start(t, handler, time.Minute)
	result := fetchLater(server.address)
	<-handler.entered
	server.stop()
	refused(t, server.address)
	close(handler.release)
	if got := <-result; got.err != nil || got.body != "done" {
		t.Errorf("the request in flight got %q, %v; want its answer", got.body, got.err)
	}
	if err := <-server.done; err != nil {
		t.Errorf("a clean stop ended with %v", err)
	}
}

// refused waits until the address takes no new connection, which shows that the
// stop has begun.
func refused(t *testing.T, address string) {
	t.Helper()
	for t.Context().Err() == nil {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		connection.Close()
	}
}

func TestStopCutsOffWhatOutlastsTheGrace(t *testing.T) {
	handler := newHeld()
	server := start(t, handler, time.Millisecond)
	result := fetchLater(server.address)
	<-handler.entered
	server.stop()
	if err := <-server.done; err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("got %v; want an error that says cut off", err)
	}
	if got := <-result; got.err == nil {
		t.Errorf("the request cut off got %q; want an error", got.body)
	}
	close(handler.release)
}

func TestListenErrorsNameCauseAndRemedy(t *testing.T) {
	holder, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	cases := []struct {
		name    string
		address string
		parts   []string
	}{
		{"taken", holder.Addr().String(), []string{holder.Addr().String() + " is taken", "set LISTEN"}},
		{"no port", "127.0.0.1", []string{`cannot listen on "127.0.0.1"`, "missing port", "set LISTEN"}},
		{"not ours", "192.0.2.1:8080", []string{"cannot listen on", "set LISTEN"}},
	}
	// Should an address bind after all, run ends at once instead of hanging.
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := run(stopped, c.address, http.NotFoundHandler(), io.Discard, shutdownGrace)
			if err == nil {
				t.Fatal("got no error")
			}
			for _, part := range c.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}
