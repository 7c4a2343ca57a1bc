// Tests against a Redis in this process.
package cache

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"prony.dev/targets/common/env"
)

func TestFillsInAndReads(t *testing.T) {
	server := miniredis.RunT(t)
	values := map[string]string{"REDIS_HOST": server.Host(), "REDIS_PORT": server.Port()}
	client := Open(env.From(func(name string) string { return values[name] }))
	if err := client.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := client.Get(t.Context(), "k")
	if err != nil || got.Key != "k" || got.Value != "value-of-k" {
		t.Errorf("got %+v, %v", got, err)
	}
	if ttl := server.TTL("k"); ttl != 60*time.Second {
		t.Errorf("stored for %s; want 60 s", ttl)
	}
	if err := server.Set("k", "other"); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Get(t.Context(), "k"); err != nil || got.Value != "other" {
		t.Errorf("got %+v, %v; want what is stored", got, err)
	}
	server.SetError("planted")
	if _, err := client.Get(t.Context(), "k"); err == nil {
		t.Error("an error of the server is lost")
	}
}

func TestNoAddress(t *testing.T) {
	if r := env.From(func(string) string { return "" }); Open(r) != nil || r.Err() != nil {
		t.Error("a client without an address")
	}
}
