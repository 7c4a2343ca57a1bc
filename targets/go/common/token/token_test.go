// Tests of what is refused, with tokens made here.
package token

import (
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func sign(t *testing.T, method jwt.SigningMethod, secret any, end time.Time) string {
	t.Helper()
	claims := jwt.RegisteredClaims{Subject: "user-7"}
	if !end.IsZero() {
		claims.ExpiresAt = jwt.NewNumericDate(end)
	}
	text, err := jwt.NewWithClaims(method, claims).SignedString(secret)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSubject(t *testing.T) {
	later, secret := time.Now().Add(time.Hour), []byte("s")
	good := sign(t, jwt.SigningMethodHS256, secret, later)
	if got, err := New("s").Subject("Bearer " + good); err != nil || got != "user-7" {
		t.Errorf("got %q, %v", got, err)
	}
	refused := map[string]string{
		"no token":   "",
		"no bearer":  good,
		"garbage":    "Bearer x.y.z",
		"expired":    "Bearer " + sign(t, jwt.SigningMethodHS256, secret, time.Now().Add(-time.Hour)),
		"endless":    "Bearer " + sign(t, jwt.SigningMethodHS256, secret, time.Time{}),
		"other key":  "Bearer " + sign(t, jwt.SigningMethodHS256, []byte("other"), later),
		"other hash": "Bearer " + sign(t, jwt.SigningMethodHS512, secret, later),
		"unsigned":   "Bearer " + sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, later),
	}
	for name, header := range refused {
		if got, err := New("s").Subject(header); err == nil {
			t.Errorf("%s: taken, with subject %q", name, got)
		}
	}
}
