// Tests against a backend on loopback with a certificate made for the test.
package backend

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/env"
	"prony.dev/targets/common/recordspb"
)

type lister struct {
	recordspb.UnimplementedRecordsServer
}

func (lister) List(_ context.Context, request *recordspb.ListRequest) (*recordspb.ListReply, error) {
	reply := &recordspb.ListReply{}
	for _, r := range contract.Records(int(request.GetN())) {
		reply.Records = append(reply.Records, &recordspb.Record{
			Id: int32(r.ID), Name: r.Name, Email: r.Email, Age: int32(r.Age), Active: r.Active, Score: r.Score, Tags: r.Tags,
		})
	}
	return reply, nil
}

// certificate makes one for 127.0.0.1 and writes it to a file.
func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func open(t *testing.T, address, file string) (*Client, error) {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"GRPC_HOST": host, "GRPC_PORT": port, "GRPC_CA_FILE": file}
	r := env.From(func(name string) string { return values[name] })
	client := Open(r)
	if client != nil {
		t.Cleanup(func() { client.conn.Close() })
	}
	return client, r.Err()
}

func TestListOverTLS(t *testing.T) {
	pair, file := certificate(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
	recordspb.RegisterRecordsServer(server, lister{})
	go server.Serve(listener)
	t.Cleanup(server.Stop)

	client, err := open(t, listener.Addr().String(), file)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The longest list must fit the library's limit of a message.
	if got, err := client.List(t.Context(), 1000); err != nil || !reflect.DeepEqual(got, contract.Records(1000)) {
		t.Errorf("%d records, %v; want those of the contract", len(got), err)
	}

	_, other := certificate(t)
	stranger, err := open(t, listener.Addr().String(), other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.List(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("another certificate: got %v; want it refused", err)
	}
}

func TestSettings(t *testing.T) {
	if _, err := open(t, "127.0.0.1:1", "/no/such/file"); err == nil || !strings.Contains(err.Error(), "GRPC_CA_FILE") {
		t.Errorf("got %v; want an error that names GRPC_CA_FILE", err)
	}
	if r := env.From(func(string) string { return "" }); Open(r) != nil || r.Err() != nil {
		t.Error("a client without an address")
	}
}
