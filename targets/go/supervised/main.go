// net/http below a tiny supervisor, to measure what a plain restart loses.
//
// Two roles in one binary. The supervisor (supervisor.go) is the process that
// was started; on HUP it stops its server and starts it again. The server,
// started with the argument `serve`, is an ordinary target: it binds the address
// itself, so between the two nobody listens.
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

// The argument that makes this binary a server.
const serveArgument = "serve"

func main() {
	if len(os.Args) > 1 && os.Args[1] == serveArgument {
		plain.Main(plain.Routes())
		return
	}
	plain.End(superviseSelf())
}

func superviseSelf() error {
	// The kernel ends the server when the thread that started it ends; this one
	// lives as long as the process.
	runtime.LockOSThread()
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find this program's own file: %w", err)
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT)
	s := supervisor{program: program, stderr: os.Stderr, now: time.Now}
	return s.run(signals)
}
