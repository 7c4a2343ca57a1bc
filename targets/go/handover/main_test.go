// Tests with real processes: the test binary is its own server. Clients speak
// over bare sockets, because http.Transport would try a lost request again and
// hide the loss. They wait on lines and channels, never on time.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"prony.dev/targets/common/plain"
	"prony.dev/targets/common/plain/plaintest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveArgument {
		plain.End(serveInherited())
		return
	}
	os.Exit(m.Run())
}

func TestContract(t *testing.T) {
	plaintest.Check(t, plain.Routes(), "../../..")
}

// kept is a keeper in this process, with its servers as processes.
type kept struct {
	address string
	program string
	signals chan os.Signal
	lines   *bufio.Scanner
	done    chan error
}

// begin starts a keeper whose program is a link that a test may change.
func begin(t *testing.T) kept {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := kept{
		program: filepath.Join(t.TempDir(), "server"),
		signals: make(chan os.Signal, 8),
		done:    make(chan error, 1),
	}
	if err := os.Symlink(self, k.program); err != nil {
		t.Fatal(err)
	}
	reader, writer := io.Pipe()
	k.lines = bufio.NewScanner(reader)
	go func() {
		k.done <- keep("127.0.0.1:0", k.program, k.signals, writer)
		writer.Close()
	}()
	k.address = strings.TrimPrefix(k.line(t, "listening on "), "listening on ")
	return k
}

// line reads the keeper's next line, which must begin with prefix.
func (k kept) line(t *testing.T, prefix string) string {
	t.Helper()
	if !k.lines.Scan() {
		t.Fatalf("no line %q; the keeper ended with %v", prefix, <-k.done)
	}
	if !strings.HasPrefix(k.lines.Text(), prefix) {
		t.Fatalf("got line %q; want %q", k.lines.Text(), prefix)
	}
	return k.lines.Text()
}

func (k kept) stop(t *testing.T) {
	t.Helper()
	k.signals <- syscall.SIGTERM
	if err := <-k.done; err != nil {
		t.Errorf("the stop ended with %v", err)
	}
}

// client sends one request after the other on a connection, until the server
// closes it after an answer.
type client struct {
	address    string
	connection net.Conn
	reader     *bufio.Reader
}

// ask sends one request. Whatever goes wrong is a lost request.
func (c *client) ask() error {
	if c.connection == nil {
		connection, err := net.Dial("tcp", c.address)
		if err != nil {
			return err
		}
		c.connection, c.reader = connection, bufio.NewReader(connection)
		if err := connection.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(c.connection, "GET /ping HTTP/1.1\r\nHost: t\r\n\r\n"); err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(body), `"msg":"ok"`) {
		return fmt.Errorf("status %d, body %q, %v", answer.StatusCode, body, err)
	}
	if answer.Close {
		c.close()
	}
	return nil
}

func (c *client) close() {
	if c.connection != nil {
		c.connection.Close()
		c.connection = nil
	}
}

// askUntil sends requests until ended is closed and returns how many, or the
// first error.
func askUntil(address string, ended <-chan struct{}, asked *atomic.Int64) error {
	c := &client{address: address}
	defer c.close()
	for {
		select {
		case <-ended:
			return nil
		default:
		}
		if err := c.ask(); err != nil {
			return err
		}
		asked.Add(1)
	}
}

func TestNoRequestIsLostInHandovers(t *testing.T) {
	k := begin(t)
	ended := make(chan struct{})
	var asked atomic.Int64
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			if err := askUntil(k.address, ended, &asked); err != nil {
				t.Errorf("a request was lost: %v", err)
			}
		})
	}
	for range 5 {
		k.signals <- syscall.SIGUSR2
		k.line(t, "process ")
		// Some requests more, so that the old server meets some while it leaves.
		for target := asked.Load() + 200; asked.Load() < target && !t.Failed(); {
			one := client{address: k.address}
			if err := one.ask(); err != nil {
				t.Errorf("a new connection was refused: %v", err)
			}
			one.close()
		}
	}
	close(ended)
	clients.Wait()
	k.stop(t)
}

// A connection that was idle when its server was replaced still gets an answer,
// which says that the connection closes; the next one reaches the new server.
func TestIdleConnectionIsAnsweredByTheOldServer(t *testing.T) {
	k := begin(t)
	c := &client{address: k.address}
	if err := c.ask(); err != nil {
		t.Fatal(err)
	}
	k.signals <- syscall.SIGUSR2
	k.line(t, "process ")
	// The old server may answer once or more before it notices; then it closes.
	for c.connection != nil {
		if err := c.ask(); err != nil {
			t.Fatalf("a request on an idle connection was lost: %v", err)
		}
	}
	if err := c.ask(); err != nil {
		t.Fatalf("the new server: %v", err)
	}
	c.close()
	k.stop(t)
}

func TestBrokenNewBinaryKeepsTheOldServer(t *testing.T) {
	k := begin(t)
	for _, broken := range []string{"/bin/false", "/nonexistent"} {
		if err := os.Remove(k.program); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(broken, k.program); err != nil {
			t.Fatal(err)
		}
		k.signals <- syscall.SIGUSR2
		k.line(t, "no hand-over, the old server goes on: ")
		c := &client{address: k.address}
		if err := c.ask(); err != nil {
			t.Errorf("after a failed hand-over to %s: %v", broken, err)
		}
		c.close()
	}
	k.stop(t)
}

func TestStopFreesThePort(t *testing.T) {
	k := begin(t)
	c := &client{address: k.address}
	if err := c.ask(); err != nil {
		t.Fatal(err)
	}
	k.stop(t)
	c.close()
	again, err := net.Listen("tcp", k.address)
	if err != nil {
		t.Fatalf("the port is not free after the stop: %v", err)
	}
	again.Close()
}

func TestFirstServerThatFailsIsAnError(t *testing.T) {
	err := keep("127.0.0.1:0", "/bin/false", make(chan os.Signal), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "before it was ready") {
		t.Errorf("got %v; want an error that says when", err)
	}
}

func TestErrorsNameCauseAndRemedy(t *testing.T) {
	holder, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	for address, part := range map[string]string{holder.Addr().String(): "is taken", "127.0.0.1": "cannot listen on"} {
		err := keep(address, "/bin/false", make(chan os.Signal), io.Discard)
		if err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "set LISTEN") {
			t.Errorf("%s: got %v; want %q and the remedy", address, err, part)
		}
	}
	for _, text := range []string{"2", "-1s", "2m", "soon"} {
		if _, err := readDrain(text); err == nil || !strings.Contains(err.Error(), "DRAIN") {
			t.Errorf("DRAIN=%s: got %v; want an error", text, err)
		}
	}
}

// Without its drain a server would cut off a silent connection at once: with
// none it must, so that the drain time is seen to be what keeps it.
func TestDrainTimeIsWhatKeepsASilentConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	signals, done := make(chan os.Signal, 1), make(chan error, 1)
	go func() { done <- serve(listener, plain.Routes(), signals, 0) }()
	c := &client{address: listener.Addr().String()}
	if err := c.ask(); err != nil {
		t.Fatal(err)
	}
	signals <- syscall.SIGUSR2
	if err := <-done; err != nil {
		t.Errorf("leaving ended with %v", err)
	}
	if err := c.ask(); err == nil {
		t.Error("the connection is still answered after the drain time")
	}
	c.close()
}
