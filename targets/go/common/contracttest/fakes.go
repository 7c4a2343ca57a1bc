// Services that answer from this process what the real ones hold.
package contracttest

import (
	"context"
	"crypto/md5"
	"fmt"
	"strconv"
	"testing"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/database"
	"prony.dev/targets/common/env"
)

const userCount = 100_000

// NewApp is an App with its defaults and fakes for all services.
func NewApp(t *testing.T) *app.App {
	t.Helper()
	a, err := app.Open(env.From(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	a.Users, a.Cache, a.Backend, a.Web = users{}, cache{}, backend{}, backend{}
	return a
}

type users struct{}

// user has the values of the contract's table for the seed 42.
func user(id int) contract.User {
	sum := fmt.Sprintf("%x", md5.Sum(fmt.Appendf(nil, "prony:42:%d", id)))
	score, _ := strconv.ParseInt(sum[:6], 16, 64)
	name := fmt.Sprintf("user-%06d", id)
	return contract.User{
		ID: id, Name: name, Email: name + "@example.com", Age: 18 + id*7%50, Active: id%2 == 0, Score: float64(score % 1000),
	}
}

func (users) Users(_ context.Context, first, count int) ([]contract.User, error) {
	found := []contract.User{}
	for id := first; len(found) < count; id = contract.NextID(id) {
		if id < 1 || id > userCount {
			return nil, database.ErrNoUser
		}
		found = append(found, user(id))
	}
	return found, nil
}

func (users) Named(_ context.Context, name string) ([]contract.User, error) {
	var id int
	if _, err := fmt.Sscanf(name, "user-%d", &id); err != nil {
		return []contract.User{}, nil
	}
	return []contract.User{user(id)}, nil
}

type cache struct{}

func (cache) Get(_ context.Context, key string) (contract.Cached, error) {
	return contract.Cached{Key: key, Value: "value-of-" + key}, nil
}

type backend struct{}

func (backend) Records(_ context.Context, n int) (contract.RecordList, error) {
	return contract.Records(n), nil
}

func (backend) List(_ context.Context, n int) (contract.RecordList, error) {
	return contract.Records(n), nil
}
