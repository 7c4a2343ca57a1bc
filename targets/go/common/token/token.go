// Package token checks the bearer token of /auth and of the token layer: HS256
// only, a good signature, and an end that is in the future. Nothing is cached.
package token

import (
	"errors"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// DefaultSecret is the contract's.
const DefaultSecret = "prony-contract-secret"

// Checker is safe for concurrent use.
type Checker struct {
	secret []byte
	parser *jwt.Parser
}

// New makes a checker of tokens signed with secret.
func New(secret string) *Checker {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired())
	return &Checker{secret: []byte(secret), parser: parser}
}

// Subject is the subject of the token in an Authorization header.
func (c *Checker) Subject(authorization string) (string, error) {
	text, ok := strings.CutPrefix(authorization, "Bearer ")
	if !ok {
		return "", errors.New("no bearer token")
	}
	var claims jwt.RegisteredClaims
	_, err := c.parser.ParseWithClaims(text, &claims, func(*jwt.Token) (any, error) { return c.secret, nil })
	if err != nil {
		return "", err
	}
	return claims.Subject, nil
}
