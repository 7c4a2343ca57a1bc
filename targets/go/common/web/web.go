// Package web calls the HTTP backend, whose connections are kept for all
// requests.
package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/env"
)

const (
	timeout  = 5 * time.Second
	idleMost = 100
	// A right answer to what is asked here is far shorter.
	answerBytesMax = 4 << 20
)

// Client is safe for concurrent use.
type Client struct {
	base string
	http *http.Client
}

// Open makes a client for the address in the environment; nil where none is
// given. It does not connect.
func Open(r *env.Reader) *Client {
	host, port, given := r.Address("BACKEND")
	if !given {
		return nil
	}
	transport := &http.Transport{MaxIdleConnsPerHost: idleMost, MaxIdleConns: idleMost}
	base := "http://" + net.JoinHostPort(host, strconv.Itoa(port))
	return &Client{base, &http.Client{Transport: transport, Timeout: timeout}}
}

// Ping reaches the backend once.
func (c *Client) Ping(ctx context.Context) error {
	_, err := c.Records(ctx, 1)
	return err
}

// Records fetches the records 1 to 8n.
func (c *Client) Records(ctx context.Context, n int) (contract.RecordList, error) {
	return c.RecordsAfter(ctx, n, 0)
}

// RecordsAfter fetches the same from a backend that waits so long before it answers.
func (c *Client) RecordsAfter(ctx context.Context, n int, wait time.Duration) (contract.RecordList, error) {
	address := c.base + "/records/" + strconv.Itoa(n)
	if wait > 0 {
		address += "?wait=" + wait.String()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("the backend: %w", err)
	}
	defer answer.Body.Close()
	var envelope struct {
		Code int
		Data contract.RecordList
	}
	// Read to its end, so that the connection can be used again.
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerBytesMax))
	if err == nil {
		err = json.Unmarshal(body, &envelope)
	}
	if err == nil && (answer.StatusCode != http.StatusOK || envelope.Code != 0) {
		err = fmt.Errorf("status %d, code %d", answer.StatusCode, envelope.Code)
	}
	if err != nil {
		return nil, fmt.Errorf("the backend: %w", err)
	}
	return envelope.Data, nil
}
