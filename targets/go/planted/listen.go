// The listener and its faults: a short queue, a slow accept, Nagle's algorithm.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"prony.dev/targets/common/plain"
)

// The package syscall lacks it on most platforms of Linux.
const soReusePort = 0xf

// listen binds address as the settings say.
func listen(address string, s settings) (net.Listener, error) {
	var listener net.Listener
	var err error
	switch {
	case s.backlog > 0:
		listener, err = listenShort(address, s.backlog)
	case s.workers > 1:
		config := net.ListenConfig{Control: reusePort}
		listener, err = config.Listen(context.Background(), "tcp", address)
	default:
		listener, err = plain.Listen(address)
	}
	if err != nil {
		return nil, err
	}
	return faultyListener{listener, s.acceptDelay, s.twoWrites}, nil
}

// reusePort lets several processes listen on one port.
func reusePort(_, _ string, raw syscall.RawConn) error {
	var inner error
	err := raw.Control(func(fd uintptr) {
		inner = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, soReusePort, 1)
	})
	if err != nil {
		return err
	}
	return inner
}

// listenShort listens with a queue of its own length, which package net does not
// offer.
func listenShort(address string, backlog int) (net.Listener, error) {
	resolved, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return nil, fmt.Errorf("BACKLOG needs an IPv4 address in LISTEN, not %q: %w", address, err)
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot make a socket: %w", err)
	}
	file := os.NewFile(uintptr(fd), "listener")
	defer file.Close() // FileListener has its own descriptor
	to := syscall.SockaddrInet4{Port: resolved.Port}
	copy(to.Addr[:], resolved.IP.To4())
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return nil, fmt.Errorf("cannot set SO_REUSEADDR: %w", err)
	}
	if err := syscall.Bind(fd, &to); err != nil {
		return nil, fmt.Errorf("cannot bind %s: set LISTEN to a free host:port of this machine (%w)", address, err)
	}
	if err := syscall.Listen(fd, backlog); err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return net.FileListener(file)
}

type faultyListener struct {
	net.Listener
	delay time.Duration
	nagle bool
}

func (l faultyListener) Accept() (net.Conn, error) {
	time.Sleep(l.delay)
	connection, err := l.Listener.Accept()
	if tcp, is := connection.(*net.TCPConn); is && err == nil && l.nagle {
		// It fails on a connection that has gone, which the server sees itself.
		_ = tcp.SetNoDelay(false)
	}
	return connection, err
}
