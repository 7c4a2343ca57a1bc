// Package prony loads a service with the prony program and gives its result to a Go test.
//
// The program does all measuring; this package passes options on and reads the JSON that it writes (`prony schema load`).
// The program is the one that the environment variable PRONY names, or the one on PATH.
package prony

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// TB is what Load needs of *testing.T and *testing.B.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Skipf(format string, args ...any)
	TempDir() string
}

// Result is what a load did.
type Result struct {
	ThroughputPerS float64 `json:"throughput_per_s"`
	Requests       struct {
		Scheduled, Completed, Failed, Censored uint64
	} `json:"requests"`
	Latency struct {
		Response Times `json:"response"`
		Service  Times `json:"service"`
	} `json:"latency_ns"`
	Validity struct {
		Ok      bool   `json:"ok"`
		Reasons []Gate `json:"reasons"`
	} `json:"validity"`
	tb TB
}

// Times are percentiles in nanoseconds; nil where too few requests support one.
type Times struct {
	Mean *float64 `json:"mean"`
	P50  *float64 `json:"p50"`
	P90  *float64 `json:"p90"`
	P95  *float64 `json:"p95"`
	P99  *float64 `json:"p99"`
	P999 *float64 `json:"p999"`
	Max  *float64 `json:"max"`
}

// Gate is a check that failed, in words.
type Gate struct {
	Text struct {
		Text string `json:"text"`
	} `json:"text"`
}

func (g Gate) String() string { return g.Text.Text }

// Load runs `prony load URL OPTIONS`, for example Load(t, url, "-R", "500", "-d", "10s"). The test fails where prony refuses.
func Load(tb TB, url string, options ...string) *Result {
	tb.Helper()
	result, err := load(filepath.Join(tb.TempDir(), "result.json"), url, options)
	if err != nil {
		tb.Fatalf("prony: %v", err)
		return nil
	}
	result.tb = tb
	return result
}

func load(file, url string, options []string) (*Result, error) {
	program := os.Getenv("PRONY")
	if program == "" {
		program = "prony"
	}
	arguments := append([]string{"load", url}, options...)
	output, err := exec.Command(program, append(arguments, "--quiet", "--output", file)...).CombinedOutput()
	var exit *exec.ExitError
	// 2: the numbers must not be used, 3: a limit of --fail was crossed; the result is there all the same.
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 2 && exit.ExitCode() != 3) {
		return nil, fmt.Errorf("%w\n%s", err, strings.TrimSpace(string(output)))
	}
	bytes, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("there is no result: %s", strings.TrimSpace(string(output)))
	}
	result := new(Result)
	return result, json.Unmarshal(bytes, result)
}

// P99Below fails the test where the 99th percentile of response time is not below the limit. It skips the test where the
// numbers must not be used, or too few requests support the percentile: nothing is known of the service then.
func (r *Result) P99Below(limit time.Duration) {
	r.tb.Helper()
	r.below("p99", r.Latency.Response.P99, limit)
}

// P50Below does the same for the median.
func (r *Result) P50Below(limit time.Duration) {
	r.tb.Helper()
	r.below("p50", r.Latency.Response.P50, limit)
}

func (r *Result) below(name string, ns *float64, limit time.Duration) {
	r.tb.Helper()
	switch {
	case !r.Validity.Ok:
		r.tb.Skipf("void: %v", r.Validity.Reasons)
	case ns == nil:
		r.tb.Skipf("%s is not known: too few requests support it; load longer", name)
	case *ns >= float64(limit):
		r.tb.Errorf("%s is %v, not below %v", name, time.Duration(*ns), limit)
	}
}

// ErrorsBelow fails the test where the share of failed requests is not below the limit, from 0 to 1.
func (r *Result) ErrorsBelow(limit float64) {
	r.tb.Helper()
	ended := r.Requests.Completed + r.Requests.Failed
	if ended == 0 {
		r.tb.Skipf("no request ended")
		return
	}
	if share := float64(r.Requests.Failed) / float64(ended); share >= limit {
		r.tb.Errorf("%.2f %% of the requests failed, not below %.2f %%", 100*share, 100*limit)
	}
}
