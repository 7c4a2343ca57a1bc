// One to four replicas of a net/http service behind a balancer (nginx), to see how
// even a balancer is and what a replica more brings.
//
// Two roles in one binary. The process that was started binds a port for each
// replica, starts the replicas with the argument `serve` and nginx before them
// (fleet.go), and tells below /debug/runtime what each has served. A replica
// (this file) is an ordinary target on the listener that it was given.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"prony.dev/targets/common/plain"
)

const (
	// The argument that makes this binary a replica.
	serveArgument = "serve"
	// The first descriptor after the standard ones: the replica's listener.
	listenerFD = 3
	// A replica's share of the 5 s that a target gets to stop.
	replicaGrace = 2 * time.Second
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == serveArgument {
		plain.End(serve())
		return
	}
	// The kernel ends the children when the thread that started them ends; this one
	// lives as long as the process.
	runtime.LockOSThread()
	chosen, err := readSettings(os.Getenv)
	plain.End(err)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	plain.End(run(chosen, plain.Address(), signals))
}

// serve answers on the inherited listener until TERM.
func serve() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	file := os.NewFile(listenerFD, "listener")
	listener, err := net.FileListener(file)
	if err != nil {
		return fmt.Errorf("a replica needs its listener as descriptor %d: %w", listenerFD, err)
	}
	_ = file.Close()
	server := plain.NewServer(plain.Routes())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s ended: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	err = plain.Shutdown(server, replicaGrace)
	<-served
	return err
}
