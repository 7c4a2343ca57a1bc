// Tests that the engines agree on every type of the contract, that they are
// what they say, and that pooled buffers are used again.
package jsonengine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"prony.dev/targets/common/contract"
)

var user = contract.User{ID: 7, Name: `"quoted" <x>`, Email: "é", Age: 67, Score: 559}

var values = []any{
	contract.OK(contract.Empty{}),
	contract.BadCount(),
	contract.OK(contract.Records(2)),
	contract.OK(user),
	contract.OK(contract.Users{Users: []contract.User{user, user}}),
	contract.OK(contract.Users{Users: []contract.User{}}),
	contract.OK(contract.Subject{Sub: "user-7"}),
	contract.OK(contract.Cached{Key: "k", Value: "value-of-k"}),
	contract.OK(contract.Layers{Layers: 3}),
	contract.OK(contract.Mixed{User: user, Cached: contract.Cached{Key: "k"}, Records: contract.Records(1)}),
	contract.OK(contract.Upload{Bytes: 43, SHA256: "d7"}),
	contract.OK(contract.Complex{Calls: 2, Users: []contract.User{user}, Cached: []contract.Cached{{Key: "k"}}, Records: 8}),
	contract.OK(contract.Hops{Hops: 10, Times: 1000}),
	contract.OK(contract.Param{ID: "abc", Reads: 2, Bytes: 6}),
	contract.OK(contract.Route{Route: 9, ID: "7"}),
	contract.OK(contract.Decoded{Records: 8, IDs: 36}),
	contract.OK(contract.Allocated{Objects: 10_000_000, Sum: 50_000_005_000_000}),
	contract.Health{Status: "ok"},
}

func TestEnginesDecodeAlike(t *testing.T) {
	body, err := json.Marshal(contract.Batch{Records: contract.Records(2)})
	if err != nil {
		t.Fatal(err)
	}
	for name := range engines {
		engine, err := New(name, false)
		if err != nil {
			t.Logf("%s is left out: %v", name, err)
			continue
		}
		if got, err := engine.Decode(body); err != nil || got != (contract.Decoded{Records: 16, IDs: 136}) {
			t.Errorf("%s: %+v, %v; want 16 records", name, got, err)
		}
		for _, broken := range []string{"", "{", `{"records":[{"id":"x"}]}`, `{"records":[{"id":1}`} {
			if got, err := engine.Decode([]byte(broken)); err == nil {
				t.Errorf("%s takes %q for %+v", name, broken, got)
			}
		}
	}
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("not JSON: %v in %s", err, text)
	}
	return value
}

func TestEnginesAgree(t *testing.T) {
	for name := range engines {
		for _, pooled := range []bool{false, true} {
			// One that this processor has not is skipped by itself; the others are tested.
			t.Run(fmt.Sprintf("%s pooled %t", name, pooled), func(t *testing.T) {
				engine, err := New(name, pooled)
				if err != nil {
					t.Skip(err)
				}
				agreesWithTheStandardLibrary(t, engine)
			})
		}
	}
}

func agreesWithTheStandardLibrary(t *testing.T, engine Engine) {
	t.Helper()
	for _, value := range values {
		want, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := engine.Write(&got, value); err != nil {
			t.Error(err)
			continue
		}
		if !reflect.DeepEqual(decode(t, got.Bytes()), decode(t, want)) {
			t.Errorf("got %s; want %s", &got, want)
		}
	}
}

// Generated encoders must be called, not encoding/json by the back door.
func TestGeneratedEnginesRefuseWhatTheyDoNotKnow(t *testing.T) {
	for _, name := range []string{"easyjson", "ffjson"} {
		for _, value := range []any{struct{}{}, contract.OK(struct{}{})} {
			engine, _ := New(name, false)
			if _, err := engine.Marshal(value); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: got %v; want an error that names it", name, err)
			}
		}
	}
}

func TestUnknownEngine(t *testing.T) {
	if _, err := New("none", false); err == nil {
		t.Error("got no error")
	}
}

type keeper struct{ last []byte }

func (k *keeper) Write(p []byte) (int, error) { k.last = p; return len(p), nil }

// What a pool keeps is the collector's affair, so the shared memory is looked
// for among several answers.
func TestPooledBuffersAreUsedAgain(t *testing.T) {
	shared := func(pooled bool) bool {
		engine, _ := New("std", pooled)
		seen := map[*byte]bool{}
		kept := [][]byte{}
		for range 100 {
			var out keeper
			if err := engine.Write(&out, contract.OK(contract.Records(1))); err != nil {
				t.Fatal(err)
			}
			if seen[&out.last[0]] {
				return true
			}
			seen[&out.last[0]] = true
			kept = append(kept, out.last)
		}
		return len(kept) == 0
	}
	if !shared(true) {
		t.Error("no buffer was used again with the pool")
	}
	if shared(false) {
		t.Error("memory was used again without the pool")
	}
}
