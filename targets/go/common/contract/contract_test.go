// Tests of the shared answers: the limits of n, and records against literal
// values worked out by hand.
package contract

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestParseCount(t *testing.T) {
	cases := []struct {
		text string
		n    int
		ok   bool
	}{
		{"1", 1, true},
		{"10", 10, true},
		{"1000", 1000, true},
		{"0", 0, false},
		{"-1", 0, false},
		{"1001", 0, false},
		{"99999999999999999999", 0, false},
		{"+1", 0, false},
		{"01", 0, false},
		{"1.0", 0, false},
		{"1e2", 0, false},
		{" 1", 0, false},
		{"abc", 0, false},
		{"١", 0, false},
		{"", 0, false},
	}
	for _, c := range cases {
		n, ok := ParseCount(c.text)
		if n != c.n || ok != c.ok {
			t.Errorf("ParseCount(%q) = %d, %t; want %d, %t", c.text, n, ok, c.n, c.ok)
		}
	}
}

func TestRecords(t *testing.T) {
	for _, n := range []int{1, 2, 1000} {
		if got := len(Records(n)); got != 8*n {
			t.Errorf("len(Records(%d)) = %d; want %d", n, got, 8*n)
		}
	}
	records := Records(1000)
	want := map[int]Record{
		1:    {1, "user-000001", "user-000001@example.com", 25, false, 1.5, []string{"beta", "gamma", "alpha"}},
		2:    {2, "user-000002", "user-000002@example.com", 32, true, 3, []string{"gamma", "alpha", "beta"}},
		3:    {3, "user-000003", "user-000003@example.com", 39, false, 4.5, []string{"alpha", "beta", "gamma"}},
		8000: {8000, "user-008000", "user-008000@example.com", 18, true, 12000, []string{"gamma", "alpha", "beta"}},
	}
	for id, record := range want {
		if got := records[id-1]; !reflect.DeepEqual(got, record) {
			t.Errorf("record %d = %+v; want %+v", id, got, record)
		}
	}
}

// Two requests must not share memory: a cached answer would not measure the work.
func TestRecordsAreFresh(t *testing.T) {
	first, second := Records(1), Records(1)
	first[0].Tags[0] = "changed"
	first[1].Name = "changed"
	if second[0].Tags[0] == "changed" || second[1].Name == "changed" {
		t.Error("two calls of Records share memory")
	}
	if third := Records(1); !reflect.DeepEqual(second, third) {
		t.Error("Records(1) differs from call to call")
	}
}

func TestEnvelopes(t *testing.T) {
	cases := []struct {
		value any
		want  string
	}{
		{OK(Empty{}), `{"code":0,"msg":"ok","data":{}}`},
		{BadCount(), `{"code":400,"msg":"n must be an integer from 1 to 1000","data":{}}`},
		{Health{Status: "ok"}, `{"status":"ok"}`},
	}
	for _, c := range cases {
		got, err := json.Marshal(c.value)
		if err != nil {
			t.Fatalf("encoding %+v: %v", c.value, err)
		}
		if string(got) != c.want {
			t.Errorf("got %s; want %s", got, c.want)
		}
	}
}

func TestParseID(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "7": 7, "100001": 100001, "99999999999999999999": 1<<63 - 1} {
		if got, ok := ParseID(text); !ok || got != want {
			t.Errorf("ParseID(%q) = %d, %t; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "x", "+1", "-1", "01", "00", "1.0", " 1", "١"} {
		if got, ok := ParseID(text); ok {
			t.Errorf("ParseID(%q) = %d; want it refused", text, got)
		}
	}
}

func TestLimitsOfParameters(t *testing.T) {
	for text, want := range map[string]bool{"0": false, "1": true, "20": true, "21": false, "x": false} {
		if _, ok := ParseQueries(text); ok != want {
			t.Errorf("ParseQueries(%q) is %t", text, ok)
		}
	}
	for text, want := range map[string]bool{"0": true, "3": true, "4": false, "03": false} {
		if _, ok := ParseLayers(text); ok != want {
			t.Errorf("ParseLayers(%q) is %t", text, ok)
		}
	}
	long := strings.Repeat("a", 64)
	for key, want := range map[string]bool{"aZ09_-": true, long: true, long + "a": false, "": false, "a b": false, "é": false} {
		if ValidKey(key) != want {
			t.Errorf("ValidKey(%q) is %t", key, !want)
		}
	}
	if NextID(7) != 8 || NextID(100_000) != 1 {
		t.Error("NextID")
	}
}
