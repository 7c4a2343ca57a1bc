// Tests with real processes: the test binary is its own server. They wait on
// lines, connections and channels, never on time.
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
	"syscall"
	"testing"
	"time"

	"prony.dev/targets/common/plain"
	"prony.dev/targets/common/plain/plaintest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serveArgument {
		plain.Main(plain.Routes())
		return
	}
	os.Exit(m.Run())
}

func TestContract(t *testing.T) {
	plaintest.Check(t, plain.Routes(), "../../..")
}

// supervised is a supervisor in this process, with its server as a process.
type supervised struct {
	address string
	signals chan os.Signal
	lines   *bufio.Scanner
	done    chan error
}

// begin starts program below a supervisor on a port that was free just now.
func begin(t *testing.T, program string) supervised {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	t.Setenv("LISTEN", free.Addr().String())
	reader, writer := io.Pipe()
	s := supervised{free.Addr().String(), make(chan os.Signal, 8), bufio.NewScanner(reader), make(chan error, 1)}
	go func() {
		inner := supervisor{program: program, stderr: writer, now: time.Now}
		s.done <- inner.run(s.signals)
		writer.Close()
	}()
	return s
}

func (s supervised) line(t *testing.T) string {
	t.Helper()
	if !s.lines.Scan() {
		t.Fatalf("no more lines; the supervisor ended with %v", <-s.done)
	}
	return s.lines.Text()
}

// pid reads the line that names the server's process.
func (s supervised) pid(t *testing.T) (pid int) {
	t.Helper()
	line := s.line(t)
	if _, err := fmt.Sscanf(line, "server is process %d", &pid); err != nil {
		t.Fatalf("got line %q: %v", line, err)
	}
	return pid
}

// answered asks until the server answers, or the test's own time is over.
func (s supervised) answered(t *testing.T) {
	t.Helper()
	for t.Context().Err() == nil {
		answer, err := http.Get("http://" + s.address + "/ping")
		if err == nil {
			answer.Body.Close()
			return
		}
	}
	t.Fatal("the server does not come back")
}

func self(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func TestComesBackAfterHup(t *testing.T) {
	s := begin(t, self(t))
	first := s.pid(t)
	s.answered(t)
	s.signals <- syscall.SIGHUP
	second := s.pid(t)
	if first == second {
		t.Errorf("process %d was not replaced", first)
	}
	if err := syscall.Kill(first, 0); err != syscall.ESRCH {
		t.Errorf("the old server %d is still there: %v", first, err)
	}
	s.answered(t)
	http.DefaultClient.CloseIdleConnections()
	s.signals <- syscall.SIGTERM
	if err := <-s.done; err != nil {
		t.Errorf("the stop ended with %v", err)
	}
	again, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatalf("the port is not free after the stop: %v", err)
	}
	again.Close()
}

// The loss that this target is there to show: a connection does not survive.
func TestARestartCutsConnections(t *testing.T) {
	s := begin(t, self(t))
	s.pid(t)
	s.answered(t)
	connection, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	reader := bufio.NewReader(connection)
	ask := func() error {
		if _, err := io.WriteString(connection, "GET /ping HTTP/1.1\r\nHost: t\r\n\r\n"); err != nil {
			return err
		}
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	s.signals <- syscall.SIGHUP
	s.pid(t)
	if err := ask(); err == nil {
		t.Error("a connection survived the restart")
	}
	s.answered(t)
	http.DefaultClient.CloseIdleConnections()
	s.signals <- syscall.SIGTERM
	if err := <-s.done; err != nil {
		t.Errorf("the stop ended with %v", err)
	}
}

func TestKilledServerIsStartedAgain(t *testing.T) {
	s := begin(t, self(t))
	first := s.pid(t)
	s.answered(t)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if line := s.line(t); !strings.Contains(line, "without being asked: signal: killed") {
		t.Errorf("got line %q", line)
	}
	s.pid(t)
	s.answered(t)
	http.DefaultClient.CloseIdleConnections()
	s.signals <- syscall.SIGTERM
	if err := <-s.done; err != nil {
		t.Errorf("the stop ended with %v", err)
	}
}

func TestServerThatKeepsEndingIsGivenUp(t *testing.T) {
	s := supervisor{program: "/bin/false", stderr: io.Discard, now: func() time.Time { return time.Unix(0, 0) }}
	err := s.run(make(chan os.Signal))
	if err == nil || !strings.Contains(err.Error(), "more than 5 times") {
		t.Errorf("got %v; want to be given up", err)
	}
	if len(s.crashes) != crashesMax+1 {
		t.Errorf("given up after %d ends; want %d", len(s.crashes), crashesMax+1)
	}
}

func TestCrashesOfLongAgoAreForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	s := supervisor{now: func() time.Time { return now }}
	for range 100 {
		if s.tooManyCrashes() {
			t.Fatal("given up though the ends are far apart")
		}
		now = now.Add(crashesWithin / 2)
	}
}

func TestMissingProgramIsAnError(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "server")
	s := supervisor{program: missing, stderr: io.Discard, now: time.Now}
	if err := s.run(make(chan os.Signal)); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("got %v; want an error that names %s", err, missing)
	}
}
