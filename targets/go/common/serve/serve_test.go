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

	"prony.dev/targets/common/knobs"
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
	return startWith(t, handler, grace, knobs.Defaults())
}

func startWith(t *testing.T, handler http.Handler, grace time.Duration, k knobs.Knobs) running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, "127.0.0.1:0", HTTP(handler, k), writer, grace)
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
			err := run(stopped, c.address, HTTP(http.NotFoundHandler(), knobs.Defaults()), io.Discard, shutdownGrace)
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

func protocols(http2 bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(!http2)
	p.SetUnencryptedHTTP2(http2)
	return p
}

// A client that speaks HTTP/2 without asking is served only with the knob on;
// one that speaks HTTP/1.1 always.
func TestHTTP2IsTakenOnlyWhenAsked(t *testing.T) {
	for _, on := range []bool{false, true} {
		k := knobs.Defaults()
		k.HTTP2 = on
		server := startWith(t, http.NotFoundHandler(), shutdownGrace, k)
		for _, http2 := range []bool{false, true} {
			transport := &http.Transport{Protocols: protocols(http2)}
			answer, err := (&http.Client{Transport: transport}).Get("http://" + server.address + "/")
			if good := on || !http2; (err == nil) != good {
				t.Errorf("knob %t, client HTTP/2 %t: %v", on, http2, err)
			}
			if err == nil {
				if answer.ProtoMajor == 2 != http2 {
					t.Errorf("knob %t, client HTTP/2 %t: answered as %s", on, http2, answer.Proto)
				}
				answer.Body.Close()
			}
			transport.CloseIdleConnections()
		}
		server.stop()
		<-server.done
	}
}

func TestKeepAliveKnob(t *testing.T) {
	for _, on := range []bool{false, true} {
		k := knobs.Defaults()
		k.KeepAlive = on
		server := startWith(t, http.NotFoundHandler(), shutdownGrace, k)
		answer, err := http.Get("http://" + server.address + "/")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.Close == on {
			t.Errorf("keep-alive %t: the answer closes its connection: %t", on, answer.Close)
		}
		http.DefaultClient.CloseIdleConnections()
		server.stop()
		<-server.done
	}
}

// An idle connection, and one that never sends its request, are closed by the
// server: reading from them ends.
func TestTimeoutsCloseConnections(t *testing.T) {
	cases := map[string]func(*knobs.Knobs) string{
		"keep-alive": func(k *knobs.Knobs) string {
			k.KeepAliveTimeout = time.Millisecond
			return "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
		},
		"read": func(k *knobs.Knobs) string {
			k.ReadTimeout = time.Millisecond
			return "GET / HTTP/1.1\r\n"
		},
	}
	for name, plant := range cases {
		k := knobs.Defaults()
		request := plant(&k)
		server := startWith(t, http.NotFoundHandler(), shutdownGrace, k)
		connection, err := net.Dial("tcp", server.address)
		if err != nil {
			t.Fatal(err)
		}
		// Far below the defaults of 10 s and 120 s, which would fail here.
		connection.SetDeadline(time.Now().Add(4 * time.Second))
		_, _ = io.WriteString(connection, request)
		if _, err := io.ReadAll(connection); err != nil && strings.Contains(err.Error(), "i/o timeout") {
			t.Errorf("%s: the connection stayed open", name)
		}
		connection.Close()
		server.stop()
		<-server.done
	}
}

func TestWriteTimeoutReachesTheServer(t *testing.T) {
	k := knobs.Defaults()
	k.WriteTimeout = 7 * time.Second
	if got := HTTP(http.NotFoundHandler(), k).WriteTimeout; got != k.WriteTimeout {
		t.Errorf("got %s", got)
	}
}
