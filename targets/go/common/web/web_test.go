// Tests against a backend in this process: records, refusals and connections that
// are kept.
package web

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/env"
)

func client(t *testing.T, handler http.HandlerFunc) (c *Client, opened *int) {
	t.Helper()
	opened = new(int)
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			*opened++
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	host, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	values := map[string]string{"BACKEND_HOST": host, "BACKEND_PORT": port}
	return Open(env.From(func(name string) string { return values[name] })), opened
}

func TestRecordsComeOverOneConnection(t *testing.T) {
	c, opened := client(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/records/2" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		_ = json.NewEncoder(w).Encode(contract.OK(contract.Records(2)))
	})
	for range 3 {
		if records, err := c.Records(t.Context(), 2); err != nil || len(records) != 16 || records[15].ID != 16 {
			t.Errorf("%d records, %v", len(records), err)
		}
	}
	if *opened != 1 {
		t.Errorf("%d connections for three calls", *opened)
	}
}

func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	for _, text := range []string{"", "{", `{"code":400,"msg":"no","data":{}}`, `{"code":503,"msg":"no","data":[]}`} {
		c, _ := client(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
		if _, err := c.Records(t.Context(), 1); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if Open(env.From(func(string) string { return "" })) != nil {
		t.Error("a client without an address")
	}
}

func TestABackendIsAskedToWait(t *testing.T) {
	c, _ := client(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "wait=5ms" {
			t.Errorf("asked with %q", r.URL.RawQuery)
		}
		_ = json.NewEncoder(w).Encode(contract.OK(contract.Records(1)))
	})
	if _, err := c.RecordsAfter(t.Context(), 1, 5*time.Millisecond); err != nil {
		t.Error(err)
	}
}
