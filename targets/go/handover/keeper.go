// The keeper: binds the socket, starts servers on it, and on USR2 replaces the
// one that serves.
//
// Invariants: the old server is asked to go only once the new one has said that
// it is ready, so at every moment one accepts. A new one that does not get ready
// is killed and the old one goes on. Servers are in process groups of their own,
// so a signal to the keeper's group reaches them once, through the keeper, and
// the kernel kills them should the keeper be killed.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"prony.dev/targets/common/plain"
)

const (
	// A new server must be ready within this.
	readyTimeout = 10 * time.Second
	// Half a second more than a server takes at most to stop.
	stopTimeout = shutdownGrace + 500*time.Millisecond
)

// process is one server.
type process struct {
	command *exec.Cmd
	// ready is closed once it serves, ended once it has ended, with err set.
	ready chan struct{}
	ended chan struct{}
	err   error
}

func (p *process) pid() int { return p.command.Process.Pid }

// signal is lost where the process has just ended; ended tells that.
func (p *process) signal(which syscall.Signal) {
	_ = p.command.Process.Signal(which)
}

// keeper is the state of keep. next and the timeout exist during a hand-over.
type keeper struct {
	program string
	socket  *os.File
	stderr  io.Writer

	serving *process
	next    *process
	late    *time.Timer
	retired []*process
}

// keep serves on address until a stop signal comes or the server ends by itself.
// It writes "listening on ADDR" to stderr once the first server is ready.
func keep(address, program string, signals <-chan os.Signal, stderr io.Writer) error {
	listener, err := plain.Listen(address)
	if err != nil {
		return err
	}
	socket, err := descriptor(listener.(*net.TCPListener))
	bound := listener.Addr()
	// The file holds the socket from here on; the keeper itself never accepts.
	listener.Close()
	if err != nil {
		return fmt.Errorf("cannot keep the socket of %s: %w", bound, err)
	}
	defer socket.Close()

	k := &keeper{program: program, socket: socket, stderr: stderr}
	defer k.stop()
	if err := k.begin(signals); err != nil || k.serving == nil {
		return err
	}
	fmt.Fprintf(stderr, "listening on %s\n", bound)
	return k.loop(signals)
}

// begin starts the first server. With neither error nor server a stop signal came.
func (k *keeper) begin(signals <-chan os.Signal) error {
	if err := k.start(); err != nil {
		return err
	}
	for {
		select {
		case <-k.next.ready:
			k.promote()
			return nil
		case <-k.next.ended:
			return fmt.Errorf("the server ended before it was ready: %w", k.next.failure())
		case <-k.late.C:
			return fmt.Errorf("the server was not ready within %s", readyTimeout)
		case which := <-signals:
			if which != syscall.SIGUSR2 {
				return nil
			}
		}
	}
}

func (k *keeper) loop(signals <-chan os.Signal) error {
	for {
		ready, ended, late := k.handover()
		select {
		case which := <-signals:
			if which != syscall.SIGUSR2 {
				return k.stop()
			}
			k.reload()
		case <-ready:
			k.promote()
		case <-ended:
			k.abandon(k.next.failure())
		case <-late:
			k.abandon(fmt.Errorf("not ready within %s", readyTimeout))
		case <-k.serving.ended:
			return fmt.Errorf("the server ended without being asked: %w", k.serving.failure())
		}
	}
}

// handover gives the events of the server that is starting; none without one.
func (k *keeper) handover() (ready, ended <-chan struct{}, late <-chan time.Time) {
	if k.next == nil {
		return nil, nil, nil
	}
	return k.next.ready, k.next.ended, k.late.C
}

func (k *keeper) reload() {
	if k.next != nil {
		fmt.Fprintln(k.stderr, "a hand-over is under way; this signal is dropped")
		return
	}
	if err := k.start(); err != nil {
		fmt.Fprintf(k.stderr, "no hand-over, the old server goes on: %v\n", err)
	}
}

// promote makes the new server the serving one and retires the old one.
func (k *keeper) promote() {
	k.late.Stop()
	old := k.serving
	k.serving, k.next = k.next, nil
	if old == nil {
		return
	}
	k.forgetEnded()
	k.retired = append(k.retired, old)
	old.signal(syscall.SIGUSR2)
	fmt.Fprintf(k.stderr, "process %d took over from %d\n", k.serving.pid(), old.pid())
}

func (k *keeper) abandon(reason error) {
	k.late.Stop()
	k.next.signal(syscall.SIGKILL)
	<-k.next.ended
	k.next = nil
	fmt.Fprintf(k.stderr, "no hand-over, the old server goes on: %v\n", reason)
}

func (k *keeper) forgetEnded() {
	var left []*process
	for _, old := range k.retired {
		select {
		case <-old.ended:
		default:
			left = append(left, old)
		}
	}
	k.retired = left
}

// start starts a server as next: it inherits the socket as descriptor 3 and
// says that it is ready through descriptor 4.
func (k *keeper) start() error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("cannot make a pipe: %w", err)
	}
	command := exec.Command(k.program, serveArgument)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.ExtraFiles = []*os.File{k.socket, writer}
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	err = command.Start()
	writer.Close()
	if err != nil {
		reader.Close()
		return fmt.Errorf("cannot start %s: %w", k.program, err)
	}
	k.next = &process{command: command, ready: make(chan struct{}), ended: make(chan struct{})}
	k.late = time.NewTimer(readyTimeout)
	go k.next.watch(reader)
	return nil
}

// watch waits for the byte that means ready, then for the end.
func (p *process) watch(reader *os.File) {
	if n, _ := reader.Read(make([]byte, 1)); n == 1 {
		close(p.ready)
	}
	reader.Close()
	p.err = p.command.Wait()
	close(p.ended)
}

// failure says how an ended process ended, which is no good news here even
// with status 0.
func (p *process) failure() error {
	if p.err != nil {
		return p.err
	}
	return errors.New("exit status 0")
}

// stop ends all servers; those that outlast their time are killed. Called again
// it finds nothing to do.
func (k *keeper) stop() error {
	running := k.retired
	for _, p := range []*process{k.serving, k.next} {
		if p != nil {
			running = append(running, p)
		}
	}
	for _, p := range running {
		p.signal(syscall.SIGTERM)
	}
	limit := time.NewTimer(stopTimeout)
	defer limit.Stop()
	expired := false
	var failed error
	for _, p := range running {
		select {
		case <-p.ended:
		case <-limit.C:
			expired = true
		}
		if expired {
			p.signal(syscall.SIGKILL)
			<-p.ended
		}
		if p.err != nil && p != k.next {
			failed = fmt.Errorf("a server did not stop in order: %w", p.err)
		}
	}
	k.serving, k.next, k.retired = nil, nil, nil
	return failed
}

// descriptor is a second descriptor of the socket. Not listener.File(): to pass
// on a file from there, os/exec makes the socket blocking, for all processes
// that share it, and a server that blocks in accept cannot be stopped.
func descriptor(listener *net.TCPListener) (*os.File, error) {
	raw, err := listener.SyscallConn()
	if err != nil {
		return nil, err
	}
	var copied int
	var failed error
	err = raw.Control(func(original uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if copied, failed = syscall.Dup(int(original)); failed == nil {
			syscall.CloseOnExec(copied)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(copied), "socket"), nil
}
