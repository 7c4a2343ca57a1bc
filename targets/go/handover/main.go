// net/http that hands its listening socket to a new process of the same binary,
// so that a reload loses no request.
//
// Two roles in one binary. The keeper (keeper.go) is the process that was
// started: it binds the socket, keeps its process id for whoever watches it, and
// serves nothing. The server (server.go), started by the keeper with the
// argument `serve`, inherits the socket and answers.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"prony.dev/targets/common/plain"
)

const (
	defaultDrain = 2 * time.Second
	drainMax     = time.Minute

	// The argument that makes this binary a server.
	serveArgument = "serve"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == serveArgument {
		plain.End(serveInherited())
		return
	}
	plain.End(keepFromEnvironment())
}

func keepFromEnvironment() error {
	// The kernel ends a server when the thread that started it ends; this one
	// lives as long as the process.
	runtime.LockOSThread()
	if _, err := readDrain(os.Getenv("DRAIN")); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program's own file: %w", err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGINT)
	return keep(plain.Address(), program, signals, os.Stderr)
}

// readDrain reads how long a server that was replaced waits for its clients.
func readDrain(text string) (time.Duration, error) {
	if text == "" {
		return defaultDrain, nil
	}
	drain, err := time.ParseDuration(text)
	if err != nil || drain < 0 || drain > drainMax {
		return 0, fmt.Errorf("DRAIN is %q: set it to a duration from 0s to %s, such as 2s", text, drainMax)
	}
	return drain, nil
}
