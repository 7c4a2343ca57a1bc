// The server: answers on the inherited socket until it is replaced or stopped.
//
// Replaced (USR2): it stops accepting, and answers each connection's next
// request with `Connection: close`. Closing an idle connection outright would
// cut off a request that is already on its way. Connections still silent after
// the drain time are closed. Stopped (TERM): requests in flight end, the rest
// is closed.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"prony.dev/targets/common/plain"
)

// A second less than the contract allows: the keeper ends after it.
const shutdownGrace = 4 * time.Second

// Descriptors that the keeper passes on, after the standard three.
const (
	socketDescriptor = 3
	readyDescriptor  = 4
)

// serveInherited is the whole life of a server process.
func serveInherited() error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGINT)
	drain, err := readDrain(os.Getenv("DRAIN"))
	if err != nil {
		return err
	}
	socket := os.NewFile(socketDescriptor, "socket")
	listener, err := net.FileListener(socket)
	if err != nil {
		return fmt.Errorf("no socket inherited: start this program without the argument %q (%w)", serveArgument, err)
	}
	socket.Close()
	ready := os.NewFile(readyDescriptor, "ready")
	// The socket listens already, so what comes from here on is answered.
	if _, err := ready.Write([]byte{1}); err != nil {
		return fmt.Errorf("the keeper has gone: %w", err)
	}
	ready.Close()
	return serve(listener, plain.Routes(), signals, drain)
}

// serve answers until a signal comes: USR2 drains before the stop.
func serve(listener net.Listener, handler http.Handler, signals <-chan os.Signal, drain time.Duration) error {
	open := newConnections()
	var leaving atomic.Bool
	server := plain.NewServer(closeWhen(&leaving, handler))
	server.ConnState = open.changed
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving on %s ended: %w", listener.Addr(), err)
	case which := <-signals:
		if which != syscall.SIGUSR2 {
			return plain.Shutdown(server, shutdownGrace)
		}
	}
	leaving.Store(true)
	listener.Close()
	// Every connection that was accepted counts as open once Serve is back.
	<-served
	limit := time.NewTimer(drain)
	defer limit.Stop()
	select {
	case <-open.none():
	case <-limit.C:
	case <-signals:
	}
	return plain.Shutdown(server, shutdownGrace)
}

// closeWhen has net/http close a connection after its next answer.
func closeWhen(leaving *atomic.Bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// connections counts those that are open.
type connections struct {
	lock  sync.Mutex
	count int
	empty chan struct{}
}

func newConnections() *connections {
	return &connections{}
}

// changed is called by net/http with each change of a connection's state.
func (c *connections) changed(_ net.Conn, state http.ConnState) {
	c.lock.Lock()
	defer c.lock.Unlock()
	switch state {
	case http.StateNew:
		c.count++
	case http.StateClosed, http.StateHijacked:
		c.count--
		if c.count == 0 && c.empty != nil {
			close(c.empty)
			c.empty = nil
		}
	}
}

// none is closed once no connection is open. Call it once, when none can be added.
func (c *connections) none() <-chan struct{} {
	c.lock.Lock()
	defer c.lock.Unlock()
	empty := make(chan struct{})
	if c.count == 0 {
		close(empty)
		return empty
	}
	c.empty = empty
	return empty
}
