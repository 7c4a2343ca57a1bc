// The supervisor: one server at a time, started again after HUP and after it
// ended by itself.
//
// Invariants: a server is started only after the one before has ended. A server
// that keeps ending by itself is given up. Servers are in a process group of
// their own, so a signal to the supervisor's group reaches them once, through
// the supervisor, and the kernel kills them should the supervisor be killed.
// Deliberately absent: any care for requests, which is what go/handover has.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	// As systemd has it: more unasked ends than this within the time are too many.
	crashesMax    = 5
	crashesWithin = 10 * time.Second

	// Half a second more than the 5 s that a server takes at most to stop.
	stopTimeout = 5500 * time.Millisecond
)

// supervisor holds no server while run is not running.
type supervisor struct {
	program string
	stderr  io.Writer
	now     func() time.Time

	crashes []time.Time
}

// process is one server. ended is closed once it has ended, with err set.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
	err     error
}

// run supervises until a stop signal comes or the server is given up.
func (s *supervisor) run(signals <-chan os.Signal) error {
	server, err := s.start()
	if err != nil {
		return err
	}
	for {
		var again bool
		select {
		case which := <-signals:
			err = server.stop()
			if which != syscall.SIGHUP {
				return err
			}
			if err != nil {
				fmt.Fprintln(s.stderr, "error:", err)
			}
			again = true
		case <-server.ended:
			fmt.Fprintf(s.stderr, "the server ended without being asked: %v\n", server.outcome())
			again = !s.tooManyCrashes()
		}
		if !again {
			return fmt.Errorf("the server ended more than %d times within %s: %w", crashesMax, crashesWithin, server.outcome())
		}
		if server, err = s.start(); err != nil {
			return err
		}
	}
}

func (s *supervisor) start() (*process, error) {
	command := exec.Command(s.program, serveArgument)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", s.program, err)
	}
	server := &process{command: command, ended: make(chan struct{})}
	go func() {
		server.err = command.Wait()
		close(server.ended)
	}()
	fmt.Fprintf(s.stderr, "server is process %d\n", command.Process.Pid)
	return server, nil
}

// tooManyCrashes notes one more and forgets those of long ago.
func (s *supervisor) tooManyCrashes() bool {
	now := s.now()
	var recent []time.Time
	for _, crash := range s.crashes {
		if now.Sub(crash) < crashesWithin {
			recent = append(recent, crash)
		}
	}
	s.crashes = append(recent, now)
	return len(s.crashes) > crashesMax
}

// stop ends the server in order, or kills it, which is an error: its clients
// saw broken answers.
func (p *process) stop() error {
	// Lost where it has just ended; ended tells that.
	_ = p.command.Process.Signal(syscall.SIGTERM)
	limit := time.NewTimer(stopTimeout)
	defer limit.Stop()
	select {
	case <-p.ended:
	case <-limit.C:
		_ = p.command.Process.Kill()
		<-p.ended
		return fmt.Errorf("the server did not stop within %s and was killed", stopTimeout)
	}
	if p.err != nil {
		return fmt.Errorf("the server did not stop in order: %w", p.err)
	}
	return nil
}

// outcome says how an ended server ended, which is no good news where nobody
// asked, even with status 0.
func (p *process) outcome() error {
	if p.err != nil {
		return p.err
	}
	return errors.New("exit status 0")
}
