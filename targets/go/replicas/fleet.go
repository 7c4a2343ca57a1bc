// The replicas and the balancer as children of this process.
//
// Invariants: ports are bound before anybody is started, so that a request finds
// its replica from the first on; should a child end by itself all are ended and
// the target fails; children are in process groups of their own, and the kernel
// kills them should this process be killed. Stop: first the balancer, which lets
// its requests end, then the replicas.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"prony.dev/targets/common/plain"
)

const (
	// For the balancer and the replicas together; prony's own limit is 6 s.
	stopTimeout = 5 * time.Second
	// The answer of a replica to a reading.
	readTimeout = time.Second
)

// child is one process; ended is closed once it has ended, with err set.
type child struct {
	name    string
	command *exec.Cmd
	ended   chan struct{}
	err     error
}

func start(name string, command *exec.Cmd, gone chan<- *child) (*child, error) {
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", name, err)
	}
	c := &child{name: name, command: command, ended: make(chan struct{})}
	go func() {
		c.err = command.Wait()
		close(c.ended)
		gone <- c
	}()
	return c, nil
}

// stop asks by signal and waits until the time is over, then kills its group.
func (c *child) stop(signal syscall.Signal, until time.Time) error {
	_ = c.command.Process.Signal(signal)
	limit := time.NewTimer(time.Until(until))
	defer limit.Stop()
	select {
	case <-c.ended:
		return nil
	case <-limit.C:
		_ = syscall.Kill(-c.command.Process.Pid, syscall.SIGKILL)
		<-c.ended
		return fmt.Errorf("%s did not stop within %s and was killed", c.name, stopTimeout)
	}
}

// run serves on address until a signal, or until a child ends by itself.
func run(chosen settings, address string, signals <-chan os.Signal) (err error) {
	folder, err := os.MkdirTemp("", "prony-go-replicas-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	gone := make(chan *child, instancesMax+1)
	var replicas []*child
	addresses := []string{}
	// From the first child on, whatever happens.
	defer func() {
		until := time.Now().Add(stopTimeout)
		for _, replica := range replicas {
			err = errors.Join(err, replica.stop(syscall.SIGTERM, until))
		}
	}()
	for k := range chosen.instances {
		replica, at, err := startReplica(k, gone)
		if err != nil {
			return err
		}
		replicas, addresses = append(replicas, replica), append(addresses, at)
	}
	status, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer status.Close()
	go func() { _ = http.Serve(status, statusOf(addresses)) }()

	balancer, err := startBalancer(chosen, address, folder, status.Addr().String(), addresses, gone)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on %s\n", address)
	select {
	case <-signals:
		return balancer.stop(syscall.SIGQUIT, time.Now().Add(stopTimeout))
	case c := <-gone:
		_ = balancer.stop(syscall.SIGQUIT, time.Now())
		return fmt.Errorf("%s ended without being asked: %v", c.name, c.err)
	}
}

func startReplica(number int, gone chan<- *child) (*child, string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	program, err := os.Executable()
	if err != nil {
		return nil, "", fmt.Errorf("cannot find this program's own file: %w", err)
	}
	command := exec.Command(program, serveArgument)
	command.ExtraFiles = []*os.File{file}
	replica, err := start(fmt.Sprintf("replica %d", number), command, gone)
	return replica, listener.Addr().String(), err
}

func startBalancer(chosen settings, address, folder, status string, replicas []string, gone chan<- *child) (*child, error) {
	text := chosen.configuration(address, folder, status, replicas, os.Geteuid() == 0)
	path := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	program, err := exec.LookPath("nginx")
	if err != nil {
		// It is not in everyone's PATH.
		program = "/usr/sbin/nginx"
	}
	return start("nginx", exec.Command(program, "-p", folder, "-c", path, "-e", "stderr"), gone)
}

// statusOf tells what the replicas have served, one by one and in all.
func statusOf(replicas []string) http.Handler {
	client := &http.Client{Timeout: readTimeout}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/runtime", func(w http.ResponseWriter, _ *http.Request) {
		each, sum := []uint64{}, uint64(0)
		for _, replica := range replicas {
			served, err := servedBy(client, replica)
			if err != nil {
				plain.WriteJSON(w, http.StatusServiceUnavailable, map[string]string{"error": err.Error()})
				return
			}
			each, sum = append(each, served), sum+served
		}
		plain.WriteJSON(w, http.StatusOK, map[string]any{"requests": sum, "replicas": each})
	})
	return mux
}

func servedBy(client *http.Client, replica string) (uint64, error) {
	answer, err := client.Get("http://" + replica + "/debug/runtime")
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	var own struct{ Requests *uint64 }
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&own); err != nil {
		return 0, err
	}
	if own.Requests == nil {
		return 0, fmt.Errorf("the replica at %s does not count", replica)
	}
	return *own.Requests, nil
}
