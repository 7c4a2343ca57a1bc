// Package upload reads a body whole, as far as the contract allows, and tells
// its length and checksum. The body is not kept.
package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"prony.dev/targets/common/contract"
)

// Max is the longest body, in bytes.
const Max = 16 << 20

// ErrTooLong is returned for a longer one.
var ErrTooLong = errors.New("the body is longer than 16 MiB")

// Sum reads body to its end or to the first byte that is too much.
func Sum(body io.Reader) (contract.Upload, error) {
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(body, Max+1))
	if err != nil {
		return contract.Upload{}, err
	}
	if n > Max {
		return contract.Upload{}, ErrTooLong
	}
	return contract.Upload{Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}
