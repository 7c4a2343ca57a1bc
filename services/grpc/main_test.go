// Tests over TLS on loopback: the answers, the check of the certificate, the
// health service, and the stop. They wait on pipes and channels, never on time.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/grpclog"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"prony.dev/services/grpc/recordspb"
)

// running is a backend started by start.
type running struct {
	address string
	caFile  string
	stop    context.CancelFunc
	done    chan error
}

// start runs the backend on a port the system chooses and waits for the line
// that says which one.
func start(t *testing.T, grace time.Duration) running {
	t.Helper()
	caFile := filepath.Join(t.TempDir(), "made", "ca.pem")
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := run(ctx, options{"127.0.0.1:0", caFile, grace}, writer)
		writer.CloseWithError(io.EOF)
		done <- err
	}()
	line, err := bufio.NewReader(reader).ReadString('\n')
	if err != nil {
		t.Fatalf("no line on stderr: %v; run ended with %v", err, <-done)
	}
	address, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "listening on ")
	if !ok {
		t.Fatalf("got line %q; want listening on ADDR", line)
	}
	return running{address, caFile, stop, done}
}

// dial connects as a target does: the server is checked against the file.
func dial(t *testing.T, address, caFile string) *grpc.ClientConn {
	t.Helper()
	trust, err := credentials.NewClientTLSFromFile(caFile, "")
	if err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(trust))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}

func list(connection *grpc.ClientConn, n int32) (*recordspb.ListReply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return recordspb.NewRecordsClient(connection).List(ctx, &recordspb.ListRequest{N: n})
}

// The records must be those of /json/1, which every target answers.
func TestRecordsAreThoseOfTheContract(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/json-1.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct{ Data []map[string]any }
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	server := start(t, time.Minute)
	reply, err := list(dial(t, server.address, server.caFile), 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Records) != len(want.Data) {
		t.Fatalf("%d records; want %d", len(reply.Records), len(want.Data))
	}
	for k, record := range reply.Records {
		if got := asJSON(t, record); !reflect.DeepEqual(got, want.Data[k]) {
			t.Errorf("record %d is %v; want %v", k+1, got, want.Data[k])
		}
	}
}

// asJSON gives a record the member names of the contract.
func asJSON(t *testing.T, r *recordspb.Record) map[string]any {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"id": r.Id, "name": r.Name, "email": r.Email, "age": r.Age,
		"active": r.Active, "score": r.Score, "tags": r.Tags,
	})
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestLimitsOfN(t *testing.T) {
	server := start(t, time.Minute)
	connection := dial(t, server.address, server.caFile)
	for _, n := range []int32{0, -1, 1001, 1 << 30} {
		if _, err := list(connection, n); status.Code(err) != codes.InvalidArgument {
			t.Errorf("n = %d: got %v; want INVALID_ARGUMENT", n, err)
		}
	}
	reply, err := list(connection, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Records) != 8000 {
		t.Fatalf("%d records; want 8000", len(reply.Records))
	}
	last := reply.Records[7999]
	if last.Name != "user-008000" || last.Age != 18 || last.Score != 12000 || last.Tags[0] != "gamma" {
		t.Errorf("record 8000 is %v", last)
	}
}

func TestCertificateNamesLoopback(t *testing.T) {
	server := start(t, time.Minute)
	caPEM, err := os.ReadFile(server.caFile)
	if err != nil {
		t.Fatal(err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(caPEM) {
		t.Fatalf("no certificate in %s", caPEM)
	}
	for _, name := range []string{"127.0.0.1", "localhost"} {
		connection, err := tls.Dial("tcp", server.address, &tls.Config{
			RootCAs: authority, ServerName: name, NextProtos: []string{"h2"},
		})
		if err != nil {
			t.Errorf("as %s: %v", name, err)
			continue
		}
		connection.Close()
	}
	if _, err := tls.Dial("tcp", server.address, &tls.Config{RootCAs: authority, ServerName: "example.com"}); err == nil {
		t.Error("the certificate also holds for example.com")
	}
}

// A backend with the same name but another authority must not be believed.
func TestAnotherAuthorityIsRefused(t *testing.T) {
	server, stranger := start(t, time.Minute), start(t, time.Minute)
	_, err := list(dial(t, server.address, stranger.caFile), 1)
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v; want a refused certificate", err)
	}
}

func TestHealth(t *testing.T) {
	server := start(t, time.Minute)
	client := grpc_health_v1.NewHealthClient(dial(t, server.address, server.caFile))
	for _, service := range []string{"", "prony.v1.Records"} {
		answer, err := client.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
		if err != nil || answer.Status != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q is %v, %v; want SERVING", service, answer, err)
		}
	}
}

func TestStopFreesThePort(t *testing.T) {
	server := start(t, time.Minute)
	if _, err := list(dial(t, server.address, server.caFile), 1); err != nil {
		t.Fatal(err)
	}
	server.stop()
	if err := <-server.done; err != nil {
		t.Errorf("a stop without calls ended with %v", err)
	}
	again, err := net.Listen("tcp", server.address)
	if err != nil {
		t.Fatalf("the port is not free after the stop: %v", err)
	}
	again.Close()
}

// A health watch never ends by itself, so it outlasts any grace.
func TestStopCutsOffWhatOutlastsTheGrace(t *testing.T) {
	server := start(t, time.Millisecond)
	client := grpc_health_v1.NewHealthClient(dial(t, server.address, server.caFile))
	watch, err := client.Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	server.stop()
	if err := <-server.done; err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("got %v; want an error that says cut off", err)
	}
}

func TestErrorsNameCauseAndRemedy(t *testing.T) {
	holder, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(t.TempDir(), "ca.pem")
	cases := []struct {
		name, address, caFile string
		parts                 []string
	}{
		{"taken", holder.Addr().String(), good, []string{"is taken", "set LISTEN"}},
		{"no port", "127.0.0.1", good, []string{`cannot listen on "127.0.0.1"`, "missing port", "set LISTEN"}},
		{"no folder", "127.0.0.1:0", filepath.Join(file, "ca.pem"), []string{"not a directory", "set GRPC_CA_FILE"}},
	}
	// Should one serve after all, run ends at once instead of hanging.
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := run(stopped, options{c.address, c.caFile, time.Minute}, io.Discard)
			if err == nil {
				t.Fatal("got no error")
			}
			for _, part := range c.parts {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}

// Refused handshakes are part of the tests; their log lines are not.
func init() {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
}
