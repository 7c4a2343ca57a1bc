// Fiber's server in the form that package serve starts and stops.
//
// Deliberately absent: prefork. Its parent kills all children as soon as one of
// them ends, so that a stop would cut requests in flight off.
package main

import (
	"context"
	"errors"
	"net"

	"github.com/gofiber/fiber/v3"

	"prony.dev/targets/common/knobs"
)

type server struct {
	fiber    *fiber.App
	settings fiber.ListenConfig
	listener chan net.Listener // the one that is served; empty before
}

func newServer(router *fiber.App, k knobs.Knobs) server {
	// Clients that are answered during the stop are asked to go elsewhere.
	router.Server().CloseOnShutdown = true
	return server{router, fiber.ListenConfig{DisableStartupMessage: !k.StartupLog}, make(chan net.Listener, 1)}
}

func (s server) Serve(listener net.Listener) error {
	s.listener <- listener
	return s.fiber.Listener(listener, s.settings)
}

// Shutdown closes the listener itself as well: Fiber does not where it has not
// begun to serve, and would serve afterwards.
func (s server) Shutdown(ctx context.Context) error {
	err := s.fiber.ShutdownWithContext(ctx)
	if closing := (<-s.listener).Close(); err == nil && !errors.Is(closing, net.ErrClosed) {
		err = closing
	}
	return err
}

// Close has nothing to do: fasthttp cannot cut its connections off. The end of
// the process, which follows, does.
func (server) Close() error { return nil }
