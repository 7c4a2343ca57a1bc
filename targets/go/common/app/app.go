// Package app holds what a Go target needs to answer: its knobs, the clients of
// the services, and for each route the answer to given parameters. Routing,
// parameters, middleware and writing stay in the targets.
//
// Each answer is made from scratch; nothing is kept between requests but connections.
package app

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"

	"prony.dev/targets/common/allocate"
	"prony.dev/targets/common/backend"
	"prony.dev/targets/common/cache"
	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/database"
	"prony.dev/targets/common/env"
	"prony.dev/targets/common/jsonengine"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/runtimestats"
	"prony.dev/targets/common/serve"
	"prony.dev/targets/common/token"
	"prony.dev/targets/common/upload"
	"prony.dev/targets/common/web"
)

// As seen from the folder of a target, where it is started.
const defaultFiles = "../../files"

// Users are those of the database.
type Users interface {
	Users(ctx context.Context, first, count int) ([]contract.User, error)
	Named(ctx context.Context, name string) ([]contract.User, error)
}

// Cache has a value for every key.
type Cache interface {
	Get(ctx context.Context, key string) (contract.Cached, error)
}

// Backend lists records.
type Backend interface {
	List(ctx context.Context, n int) (contract.RecordList, error)
}

// Web lists records too, over HTTP.
type Web interface {
	Records(ctx context.Context, n int) (contract.RecordList, error)
}

// App is safe for concurrent use. A service without an address is nil.
type App struct {
	Knobs   knobs.Knobs
	JSON    jsonengine.Engine
	Log     io.Writer // of the log layer
	Workers *serve.Workers
	Tokens  *token.Checker
	Files   *os.Root // nil: there are no files
	Users   Users
	Cache   Cache
	Backend Backend
	Web     Web
	Served  runtimestats.Counter // requests of all routes; the target counts them

	pool    *database.Pool
	waiting waiting
}

// Start reads the environment. On a wrong value it ends the process with a
// message and status 1.
func Start() *App {
	a, err := Open(env.System())
	if err != nil {
		serve.Fail(err)
	}
	return a
}

// Open makes an App from the environment behind r. It connects to nothing.
func Open(r *env.Reader) (*App, error) {
	a := &App{Knobs: knobs.Read(r), Tokens: token.New(r.Text("JWT_SECRET", token.DefaultSecret))}
	a.open(r)
	engine, err := jsonengine.New(a.Knobs.JSON, a.Knobs.BufferPool)
	if err != nil {
		r.Fail("%w", err)
	}
	a.JSON = engine
	a.openFiles(r)
	a.Log, err = os.OpenFile(r.Text("ACCESS_LOG", os.DevNull), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		r.Fail("ACCESS_LOG must be a file that can be written: %w", err)
	}
	if a.Knobs.RequestTimes {
		a.Served.Times = new(runtimestats.Times)
	}
	a.Workers = serve.NewWorkers(a.Knobs.WorkerPool, a.Knobs.WorkerPoolWait)
	return a, r.Err()
}

// open makes the clients of the services. A nil pointer must not become an
// interface that is not nil.
func (a *App) open(r *env.Reader) {
	if pool := database.Open(r, a.Knobs); pool != nil {
		a.Users, a.pool = pool, pool
		a.waiting.add("mariadb", pool.Ping)
	}
	if client := cache.Open(r); client != nil {
		a.Cache = client
		a.waiting.add("redis", client.Ping)
	}
	if client := web.Open(r); client != nil {
		a.Web = client
		a.waiting.add("http", client.Ping)
	}
	if client := backend.Open(r); client != nil {
		a.Backend = client
		a.waiting.add("grpc", client.Ping)
	}
}

// Databases reports on the pool of database connections, for /debug/runtime; ok
// is false where the target has no database.
func (a *App) Databases() (stats sql.DBStats, waits *runtimestats.Times, ok bool) {
	if a.pool == nil {
		return stats, nil, false
	}
	return a.pool.Stats(), a.pool.Waits(), true
}

func (a *App) openFiles(r *env.Reader) {
	folder := r.Text("FILES_DIR", "")
	root, err := os.OpenRoot(r.Text("FILES_DIR", defaultFiles))
	if err == nil {
		a.Files = root
	} else if folder != "" {
		r.Fail("FILES_DIR must be a folder that can be read: %w", err)
	}
}

// Count is the answer of /json/{n}.
func (a *App) Count(n string) contract.Answer {
	count, ok := contract.ParseCount(n)
	if !ok {
		return contract.BadCount()
	}
	return contract.OK(contract.Records(count))
}

// User is the answer of /db/{id}; queries is "" where it is not given.
func (a *App) User(ctx context.Context, id, queries string) contract.Answer {
	first, ok := contract.ParseID(id)
	if !ok {
		return contract.Fail(http.StatusBadRequest, "id must be a plain decimal number")
	}
	count := 1
	if queries != "" {
		if count, ok = contract.ParseQueries(queries); !ok {
			return contract.Fail(http.StatusBadRequest, "queries must be an integer from 1 to 20")
		}
	}
	if a.Users == nil {
		return missing("MARIADB")
	}
	users, err := a.Users.Users(ctx, first, count)
	switch {
	case err != nil:
		return failed(err)
	case queries == "":
		return contract.OK(users[0])
	default:
		return contract.OK(contract.Users{Users: users})
	}
}

// Scan is the answer of /db/scan.
func (a *App) Scan(ctx context.Context, name string) contract.Answer {
	if name == "" {
		return contract.Fail(http.StatusBadRequest, "name is missing")
	}
	if a.Users == nil {
		return missing("MARIADB")
	}
	users, err := a.Users.Named(ctx, name)
	if err != nil {
		return failed(err)
	}
	return contract.OK(contract.Users{Users: users})
}

// Value is the answer of /cache/{key}.
func (a *App) Value(ctx context.Context, key string) contract.Answer {
	if !contract.ValidKey(key) {
		return contract.Fail(http.StatusBadRequest, "key must be 1 to 64 of a-z A-Z 0-9 _ -")
	}
	if a.Cache == nil {
		return missing("REDIS")
	}
	// A framework may use the memory of key again; Redis keeps no part of it.
	value, err := a.Cache.Get(ctx, strings.Clone(key))
	if err != nil {
		return failed(err)
	}
	return contract.OK(value)
}

// Remote is the answer of /grpc/{n}.
func (a *App) Remote(ctx context.Context, n string) contract.Answer {
	count, ok := contract.ParseCount(n)
	if !ok {
		return contract.BadCount()
	}
	if a.Backend == nil {
		return missing("GRPC")
	}
	records, err := a.Backend.List(ctx, count)
	if err != nil {
		return failed(err)
	}
	return contract.OK(records)
}

// Mixed is the answer of /mixed; id is "" where it is not given.
func (a *App) Mixed(ctx context.Context, id string) contract.Answer {
	if id == "" {
		id = "1"
	}
	user := a.User(ctx, id, "")
	if user.Code != 0 {
		return user
	}
	cached := a.Value(ctx, "mixed-"+id)
	if cached.Code != 0 {
		return cached
	}
	return contract.OK(contract.Mixed{
		User:    user.Data.(contract.User),
		Cached:  cached.Data.(contract.Cached),
		Records: contract.Records(1),
	})
}

// Complex is the answer of /complex/{id}: calls one after the other, in turn of the
// database, the cache and the HTTP backend; each round has the next id.
func (a *App) Complex(ctx context.Context, id, calls string) contract.Answer {
	at, count, ok := contract.ParseCalls(id, calls)
	switch {
	case !ok:
		return contract.Fail(http.StatusBadRequest, "id must be an integer from 1 to 100000, calls one from 2 to 8")
	case a.Users == nil:
		return missing("MARIADB")
	case a.Cache == nil:
		return missing("REDIS")
	case a.Web == nil:
		return missing("BACKEND")
	}
	page := contract.Complex{Calls: count, Users: []contract.User{}, Cached: []contract.Cached{}}
	for call := range count {
		if err := a.call(ctx, call%3, at, &page); err != nil {
			return failed(err)
		}
		if call%3 == 2 {
			at = contract.NextID(at)
		}
	}
	return contract.OK(page)
}

// call asks one of the three services and puts what it brought into page.
func (a *App) call(ctx context.Context, which, id int, page *contract.Complex) error {
	switch which {
	case 0:
		users, err := a.Users.Users(ctx, id, 1)
		page.Users = append(page.Users, users...)
		return err
	case 1:
		cached, err := a.Cache.Get(ctx, "complex-"+strconv.Itoa(id))
		page.Cached = append(page.Cached, cached)
		return err
	default:
		records, err := a.Web.Records(ctx, 1)
		page.Records += len(records)
		return err
	}
}

// Token is the answer of /auth; the error of a bad token is its answer too.
func (a *App) Token(authorization string) contract.Answer {
	subject, err := a.Tokens.Subject(authorization)
	if err != nil {
		return contract.Fail(http.StatusUnauthorized, err.Error())
	}
	return contract.OK(contract.Subject{Sub: subject})
}

// Layers is the answer of /middleware/{k}.
func (a *App) Layers(k string) contract.Answer {
	layers, ok := contract.ParseLayers(k)
	if !ok {
		return contract.Fail(http.StatusBadRequest, "k must be an integer from 0 to 3")
	}
	return contract.OK(contract.Layers{Layers: layers})
}

// Param is the answer of /param/{id}?reads=n: read takes the parameter of the
// framework once.
func (a *App) Param(reads string, read func() string) contract.Answer {
	times, ok := contract.ParseTimes(reads)
	if !ok {
		return contract.Fail(http.StatusBadRequest, "reads must be an integer from 1 to 100000")
	}
	id, bytes := "", 0
	for range times {
		id = read()
		bytes += len(id)
	}
	// A framework may use the memory of id again.
	return contract.OK(contract.Param{ID: strings.Clone(id), Reads: times, Bytes: bytes})
}

// Decode is the answer of /decode; length is that of the body, below 0 where it
// is not known.
func (a *App) Decode(body io.Reader, length int64) contract.Answer {
	var whole bytes.Buffer
	whole.Grow(int(min(max(length, 0), upload.Max)) + bytes.MinRead)
	if _, err := whole.ReadFrom(io.LimitReader(body, upload.Max+1)); err != nil {
		return contract.Fail(http.StatusBadRequest, fmt.Sprintf("the body cannot be read: %v", err))
	}
	if whole.Len() > upload.Max {
		return contract.Fail(http.StatusRequestEntityTooLarge, upload.ErrTooLong.Error())
	}
	decoded, err := a.JSON.Decode(whole.Bytes())
	if err != nil {
		return contract.Fail(http.StatusBadRequest, fmt.Sprintf("the body is no list of records: %v", err))
	}
	return contract.OK(decoded)
}

// Allocate is the answer of /allocate/{n}.
func (a *App) Allocate(n, cycles string) contract.Answer {
	count, ok := contract.ParseObjects(n)
	if !ok {
		return contract.Fail(http.StatusBadRequest, "n must be an integer from 1 to 10000000")
	}
	return contract.OK(allocate.Objects(count, cycles == "1"))
}

// Upload is the answer of /upload.
func (a *App) Upload(body io.Reader) contract.Answer {
	sum, err := upload.Sum(body)
	if errors.Is(err, upload.ErrTooLong) {
		return contract.Fail(http.StatusRequestEntityTooLarge, err.Error())
	}
	if err != nil {
		return contract.Fail(http.StatusBadRequest, fmt.Sprintf("the body cannot be read: %v", err))
	}
	return contract.OK(sum)
}

// File opens a file of the folder. Where there is none of that name, the answer
// says so and file is nil. The folder is never left, by links neither.
func (a *App) File(name string) (file *os.File, info fs.FileInfo, answer contract.Answer) {
	none := contract.Fail(http.StatusNotFound, "no such file")
	if a.Files == nil || strings.ContainsAny(name, "/\\") {
		return nil, nil, none
	}
	file, err := a.Files.Open(name)
	if err != nil {
		return nil, nil, none
	}
	if info, err = file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, nil, none
	}
	return file, info, contract.Answer{}
}

// NotFound is the answer to an unknown path where the target makes its own.
func NotFound() contract.Answer { return contract.Fail(http.StatusNotFound, "no such path") }

// Panicked is the answer after a panic where the target makes its own.
func Panicked() contract.Answer {
	return contract.Fail(http.StatusInternalServerError, "internal error")
}

func missing(service string) contract.Answer {
	return contract.Fail(http.StatusServiceUnavailable, service+"_HOST is not set, so this route has no service")
}

func failed(err error) contract.Answer {
	if errors.Is(err, database.ErrNoUser) {
		return contract.Fail(http.StatusNotFound, err.Error())
	}
	return contract.Fail(http.StatusServiceUnavailable, err.Error())
}
