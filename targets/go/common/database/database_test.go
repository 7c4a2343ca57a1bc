// Tests of the pool's limits and of the statements, with a mocked driver.
package database

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/DATA-DOG/go-sqlmock"

	"prony.dev/targets/common/env"
	"prony.dev/targets/common/knobs"
)

func mocked(t *testing.T, k knobs.Knobs) (*Pool, sqlmock.Sqlmock) {
	t.Helper()
	db, mock, err := sqlmock.New(sqlmock.QueryMatcherOption(sqlmock.QueryMatcherEqual))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return newPool(db, k), mock
}

func rows(ids ...int) *sqlmock.Rows {
	out := sqlmock.NewRows([]string{"id", "name", "email", "age", "active", "score"})
	for _, id := range ids {
		out.AddRow(id, "n", "e", 20, id%2, "559")
	}
	return out
}

func TestUsersAreAskedOneByOneAndWrap(t *testing.T) {
	pool, mock := mocked(t, knobs.Defaults())
	mock.ExpectQuery(byID).WithArgs(100_000).WillReturnRows(rows(100_000))
	mock.ExpectQuery(byID).WithArgs(1).WillReturnRows(rows(1))
	users, err := pool.Users(t.Context(), 100_000, 2)
	if err != nil || len(users) != 2 || users[0].ID != 100_000 || users[1].ID != 1 || !users[1].Active || users[1].Score != 559 {
		t.Errorf("got %+v, %v", users, err)
	}
	if err := mock.ExpectationsWereMet(); err != nil {
		t.Error(err)
	}
}

func TestNobodyIsToldApartFromAFault(t *testing.T) {
	pool, mock := mocked(t, knobs.Defaults())
	mock.ExpectQuery(byID).WithArgs(7).WillReturnRows(rows())
	if _, err := pool.Users(t.Context(), 7, 1); !errors.Is(err, ErrNoUser) {
		t.Errorf("got %v; want ErrNoUser", err)
	}
	mock.ExpectQuery(byID).WithArgs(7).WillReturnError(errors.New("planted"))
	if _, err := pool.Users(t.Context(), 7, 1); err == nil || errors.Is(err, ErrNoUser) {
		t.Errorf("got %v; want the fault", err)
	}
	mock.ExpectQuery(byName).WithArgs("x").WillReturnRows(rows())
	if users, err := pool.Named(t.Context(), "x"); err != nil || users == nil || len(users) != 0 {
		t.Errorf("got %v, %v; want an empty list", users, err)
	}
}

func TestAFullPoolIsAnErrorAfterItsLimit(t *testing.T) {
	k := knobs.Defaults()
	k.DBMaxOpen, k.DBAcquireTimeout = 1, time.Millisecond
	pool, _ := mocked(t, k)
	held, err := pool.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if _, err := pool.Users(t.Context(), 7, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v; want the limit of time", err)
	}
	if text := string(pool.Waits().Text()); !strings.Contains(text, "_count 1\n") {
		t.Errorf("the wait that was given up is not counted in\n%s", text)
	}
}

func TestKnobsReachThePool(t *testing.T) {
	k := knobs.Defaults()
	k.DBMaxOpen = 3
	pool, _ := mocked(t, k)
	if got := pool.db.Stats().MaxOpenConnections; got != 3 {
		t.Errorf("at most %d connections; want 3", got)
	}
}

func TestSettings(t *testing.T) {
	good := map[string]string{"MARIADB_HOST": "127.0.0.1", "MARIADB_PORT": "1", "MARIADB_USER": "u", "MARIADB_DATABASE": "d"}
	for _, without := range []string{"", "MARIADB_PORT", "MARIADB_USER", "MARIADB_DATABASE"} {
		r := env.From(func(name string) string {
			if name == without {
				return ""
			}
			return good[name]
		})
		pool := Open(r, knobs.Defaults())
		if (without == "") != (pool != nil && r.Err() == nil) {
			t.Errorf("without %q: %v, %v", without, pool, r.Err())
		}
	}
	if r := env.From(func(string) string { return "" }); Open(r, knobs.Defaults()) != nil || r.Err() != nil {
		t.Error("a pool without an address")
	}
}

func TestTheStatsAreThoseOfThePool(t *testing.T) {
	k := knobs.Defaults()
	k.DBMaxOpen = 7
	pool, _ := mocked(t, k)
	if got := pool.Stats().MaxOpenConnections; got != 7 {
		t.Errorf("at most %d connections; want 7", got)
	}
}
