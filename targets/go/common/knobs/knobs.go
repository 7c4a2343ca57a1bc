// Package knobs is what an experiment may vary in every Go target, read from
// the environment once, at the start. The manifests (target.toml) list the same
// names, defaults and ranges.
//
// GOMAXPROCS and GOGC are the runtime's own. It takes a wrong value for none
// in silence, so they are checked here. GOMEMLIMIT it checks itself.
package knobs

import (
	"time"

	"prony.dev/targets/common/env"
	"prony.dev/targets/common/profiling"
)

// Who answers what no route does: the framework as it comes, or this target
// with the envelope of the contract.
const (
	Framework = "framework"
	Contract  = "contract"
)

// Who finds a route below /routes/: the framework, or a list without an index.
const (
	Tree = "framework"
	List = "list"
)

const day = 24 * time.Hour

// NoLimit is the wait that has no end.
const NoLimit time.Duration = -1

// Knobs are the settings of one process.
type Knobs struct {
	KeepAlive        bool          // connections serve more than one request
	KeepAliveTimeout time.Duration // how long an idle connection is kept
	ReadTimeout      time.Duration // whole request; 0 is none
	WriteTimeout     time.Duration // from the end of the header to the end of the answer; 0 is none
	HTTP2            bool          // HTTP/2 without TLS is taken as well
	WorkerPool       int           // goroutines that run the handlers; 0 is one for each connection
	WorkerPoolWait   time.Duration // how long a request waits for one of them; NoLimit is as long as it takes

	JSON       string // engine of the answers, see package jsonengine
	BufferPool bool   // answers are encoded into buffers that are used again

	Logger       bool   // the framework's request log on all routes
	StartupLog   bool   // what the framework says at its start
	NotFound     string // Framework or Contract: the answer to an unknown path
	ErrorHandler string // Framework or Contract: the answer after a panic
	BodyParsing  bool   // forms are parsed before every handler but that of /upload

	Routes int    // routes below /routes/
	Router string // List: those below /routes/ are looked up one by one

	RequestTimes bool // a histogram of the requests' times is served at /debug/requests

	Pprof bool // Go's profiles are served below /debug/pprof/

	DBMaxOpen        int // connections
	DBMaxIdle        int // connections
	DBMaxLifetime    time.Duration
	DBAcquireTimeout time.Duration
}

// Read takes the knobs from r, which holds the errors.
func Read(r *env.Reader) Knobs {
	r.Int("GOMAXPROCS", 0, 1, 4096)
	if r.Text("GOGC", "") != "off" {
		r.Int("GOGC", 100, -1, 1_000_000)
	}
	serves, err := profiling.Serves(func(name string) string { return r.Text(name, "") })
	if err != nil {
		r.Fail("%w", err)
	}
	return Knobs{
		KeepAlive:        r.Bool("KEEPALIVE", true),
		KeepAliveTimeout: r.Duration("KEEPALIVE_TIMEOUT", 120*time.Second, time.Millisecond, day),
		ReadTimeout:      r.Duration("READ_TIMEOUT", 10*time.Second, 0, day),
		WriteTimeout:     r.Duration("WRITE_TIMEOUT", 30*time.Second, 0, day),
		HTTP2:            r.Bool("HTTP2", false),
		WorkerPool:       r.Int("WORKER_POOL", 0, 0, 100_000),
		WorkerPoolWait:   r.Duration("WORKER_POOL_WAIT", NoLimit, 0, time.Hour),
		JSON:             r.Choice("JSON_ENGINE", "std", "std", "ffjson", "easyjson", "sonic", "goccy"),
		BufferPool:       r.Bool("BUFFER_POOL", false),
		Logger:           r.Bool("LOGGER", false),
		StartupLog:       r.Bool("STARTUP_LOG", false),
		NotFound:         r.Choice("NOT_FOUND_HANDLER", Framework, Framework, Contract),
		ErrorHandler:     r.Choice("ERROR_HANDLER", Framework, Framework, Contract),
		BodyParsing:      r.Bool("BODY_PARSING", false),
		Routes:           r.Int("ROUTES", 10, 10, 10_000),
		Router:           r.Choice("ROUTER", Tree, Tree, List),
		RequestTimes:     r.Bool("REQUEST_TIMES", false),
		Pprof:            serves,
		DBMaxOpen:        r.Int("DB_MAX_OPEN", 100, 1, 10_000),
		DBMaxIdle:        r.Int("DB_MAX_IDLE", 20, 0, 10_000),
		DBMaxLifetime:    r.Duration("DB_MAX_LIFETIME", 30*time.Minute, 0, day),
		DBAcquireTimeout: r.Duration("DB_ACQUIRE_TIMEOUT", 500*time.Millisecond, time.Millisecond, time.Hour),
	}
}

// Defaults are the knobs of an experiment that turns none.
func Defaults() Knobs {
	return Read(env.From(func(string) string { return "" }))
}
