// Calls of the HTTP backend, which takes as long as it is told to.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	callTimeout = 5 * time.Second
	idleMost    = 256
	bodyMax     = 1 << 20
)

type backend struct {
	base string
	http *http.Client
}

func newBackend(address string) *backend {
	transport := &http.Transport{MaxIdleConnsPerHost: idleMost, MaxIdleConns: idleMost}
	return &backend{"http://" + address, &http.Client{Transport: transport, Timeout: callTimeout}}
}

func (b *backend) call(ctx context.Context, wait time.Duration) error {
	if b.base == "http://" {
		return errors.New("BACKEND_HOST is not set, so this route has no service")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+"/records/1?wait="+wait.String(), nil)
	if err != nil {
		return err
	}
	answer, err := b.http.Do(request)
	if err != nil {
		return fmt.Errorf("the backend: %w", err)
	}
	defer answer.Body.Close()
	// Read to its end, so that the connection can be used again.
	if _, err := io.Copy(io.Discard, io.LimitReader(answer.Body, bodyMax)); err != nil {
		return fmt.Errorf("the backend: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the backend: status %d", answer.StatusCode)
	}
	return nil
}
