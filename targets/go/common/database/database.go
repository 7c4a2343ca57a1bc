// Package database asks MariaDB for users through a pool of connections.
//
// A connection is acquired by itself, with its own limit of time, so that a
// full pool is not mistaken for a slow statement. Parameters are put into the
// text by the driver: one round trip for each statement, as the contract counts.
// How long each acquisition took is kept: package database/sql has only their sum.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/env"
	"prony.dev/targets/common/knobs"
	"prony.dev/targets/common/runtimestats"
)

const (
	columns = "SELECT id, name, email, age, active, score FROM users WHERE "
	byID    = columns + "id = ?"
	byName  = columns + "name = ? ORDER BY id"

	// A statement that takes longer is a fault, not a measurement.
	statementTimeout = 30 * time.Second
)

// ErrNoUser is returned where a user does not exist.
var ErrNoUser = errors.New("no such user")

// Pool is safe for concurrent use.
type Pool struct {
	db      *sql.DB
	acquire time.Duration
	waits   runtimestats.Times
}

// Open makes a pool for the address in the environment; nil where none is
// given. It does not connect.
func Open(r *env.Reader, k knobs.Knobs) *Pool {
	host, port, given := r.Address("MARIADB")
	if !given {
		return nil
	}
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", net.JoinHostPort(host, strconv.Itoa(port))
	config.User, config.Passwd = r.Text("MARIADB_USER", ""), r.Text("MARIADB_PASSWORD", "")
	config.DBName = r.Text("MARIADB_DATABASE", "")
	config.InterpolateParams = true
	config.ReadTimeout, config.WriteTimeout = statementTimeout, statementTimeout
	// The driver would print what the client is sent anyway.
	config.Logger = &mysql.NopLogger{}
	if config.User == "" || config.DBName == "" {
		r.Fail("MARIADB_HOST is set, so MARIADB_USER and MARIADB_DATABASE must be set too")
		return nil
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		r.Fail("the settings in MARIADB_... are wrong: %w", err)
		return nil
	}
	return newPool(sql.OpenDB(connector), k)
}

func newPool(db *sql.DB, k knobs.Knobs) *Pool {
	db.SetMaxOpenConns(k.DBMaxOpen)
	db.SetMaxIdleConns(k.DBMaxIdle)
	db.SetConnMaxLifetime(k.DBMaxLifetime)
	return &Pool{db: db, acquire: k.DBAcquireTimeout}
}

// Stats are those of the pool since it was made.
func (p *Pool) Stats() sql.DBStats { return p.db.Stats() }

// Waits are the times that each connection took to be got, with those that were
// given up.
func (p *Pool) Waits() *runtimestats.Times { return &p.waits }

// Ping reaches the server once.
func (p *Pool) Ping(ctx context.Context) error { return p.db.PingContext(ctx) }

// Users are those with the ids from first on, one statement each, through one
// connection. An id that nobody has is ErrNoUser.
func (p *Pool) Users(ctx context.Context, first, count int) ([]contract.User, error) {
	conn, err := p.connection(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	users := make([]contract.User, 0, count)
	for id := first; len(users) < count; id = contract.NextID(id) {
		user, err := scan(conn.QueryRowContext(ctx, byID, id))
		if errors.Is(err, sql.ErrNoRows) {
			return nil, ErrNoUser
		}
		if err != nil {
			return nil, fmt.Errorf("reading user %d: %w", id, err)
		}
		users = append(users, user)
	}
	return users, nil
}

// Named are all users of that name.
func (p *Pool) Named(ctx context.Context, name string) ([]contract.User, error) {
	conn, err := p.connection(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	rows, err := conn.QueryContext(ctx, byName, name)
	if err != nil {
		return nil, fmt.Errorf("looking for users by name: %w", err)
	}
	defer rows.Close()
	users := []contract.User{}
	for rows.Next() {
		user, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("reading a user: %w", err)
		}
		users = append(users, user)
	}
	return users, rows.Err()
}

func (p *Pool) connection(ctx context.Context) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.acquire)
	defer cancel()
	start := time.Now()
	conn, err := p.db.Conn(ctx)
	p.waits.Observe(time.Since(start))
	if err != nil {
		return nil, fmt.Errorf("no connection to the database within %s: %w", p.acquire, err)
	}
	return conn, nil
}

func scan(row interface{ Scan(...any) error }) (user contract.User, err error) {
	err = row.Scan(&user.ID, &user.Name, &user.Email, &user.Age, &user.Active, &user.Score)
	return user, err
}
