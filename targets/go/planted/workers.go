// Several processes of this program behind one port, which the kernel shares out
// by connection.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
)

// supervise starts the workers and waits for all of them. A signal goes on to
// each; one that ends by itself ends them all, and is an error.
func supervise(count int, signals <-chan os.Signal) error {
	// The kernel ends a worker when the thread that started it ends; this one
	// lives as long as the process.
	runtime.LockOSThread()
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program's own file: %w", err)
	}
	ended := make(chan error, count)
	var workers []*exec.Cmd
	for k := range count {
		worker := exec.Command(program)
		worker.Env = append(os.Environ(), workerVariable+"="+strconv.Itoa(k))
		worker.Stdout, worker.Stderr = os.Stdout, os.Stderr
		worker.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := worker.Start(); err != nil {
			err = fmt.Errorf("cannot start worker %d: %w", k, err)
			return errors.Join(err, stopAll(workers, ended, len(workers)))
		}
		workers = append(workers, worker)
		go func() { ended <- worker.Wait() }()
	}
	select {
	case <-signals:
		return stopAll(workers, ended, count)
	case err := <-ended:
		err = fmt.Errorf("a worker ended without being asked: %w", errors.Join(err, errors.New("see above")))
		return errors.Join(err, stopAll(workers, ended, count-1))
	}
}

// stopAll asks all to end and waits for those that are still to come.
func stopAll(workers []*exec.Cmd, ended <-chan error, left int) error {
	for _, worker := range workers {
		// One that has ended takes no signal.
		_ = worker.Process.Signal(syscall.SIGTERM)
	}
	var all error
	for range left {
		all = errors.Join(all, <-ended)
	}
	return all
}
