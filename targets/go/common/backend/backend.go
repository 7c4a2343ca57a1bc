// Package backend fetches records from the gRPC backend, over TLS that is
// checked against the given certificate and one connection for all requests.
package backend

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/env"
	"prony.dev/targets/common/recordspb"
)

// An answer that takes longer is a fault, not a measurement.
const timeout = 10 * time.Second

// Client is safe for concurrent use.
type Client struct {
	conn    *grpc.ClientConn
	records recordspb.RecordsClient
}

// Open makes a client for the address in the environment; nil where none is
// given. It does not connect.
func Open(r *env.Reader) *Client {
	host, port, given := r.Address("GRPC")
	if !given {
		return nil
	}
	file := r.Text("GRPC_CA_FILE", "")
	tls, err := credentials.NewClientTLSFromFile(file, "")
	if err != nil {
		r.Fail("GRPC_CA_FILE=%q must be the file of the backend's certificate: %w", file, err)
		return nil
	}
	// passthrough: an address needs no resolver.
	address := "passthrough:///" + net.JoinHostPort(host, strconv.Itoa(port))
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(tls))
	if err != nil {
		r.Fail("the settings in GRPC_... are wrong: %w", err)
		return nil
	}
	return &Client{conn, recordspb.NewRecordsClient(conn)}
}

// Ping waits until the connection stands.
func (c *Client) Ping(ctx context.Context) error {
	c.conn.Connect()
	for {
		state := c.conn.GetState()
		if state == connectivity.Ready {
			return nil
		}
		if !c.conn.WaitForStateChange(ctx, state) {
			return fmt.Errorf("no connection to the gRPC backend (%s): %w", state, ctx.Err())
		}
		c.conn.Connect()
	}
}

// List fetches the records 1 to 8n.
func (c *Client) List(ctx context.Context, n int) (contract.RecordList, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	reply, err := c.records.List(ctx, &recordspb.ListRequest{N: int32(n)})
	if err != nil {
		return nil, err
	}
	records := make(contract.RecordList, len(reply.GetRecords()))
	for k, record := range reply.GetRecords() {
		records[k] = contract.Record{
			ID:     int(record.GetId()),
			Name:   record.GetName(),
			Email:  record.GetEmail(),
			Age:    int(record.GetAge()),
			Active: record.GetActive(),
			Score:  record.GetScore(),
			Tags:   record.GetTags(),
		}
	}
	return records, nil
}
