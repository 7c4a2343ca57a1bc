// Tests of the limit, on both sides of it.
package upload

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestSum(t *testing.T) {
	got, err := Sum(strings.NewReader("abc"))
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2, B.1
	if err != nil || got.Bytes != 3 || got.SHA256 != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := Sum(io.LimitReader(zeros{}, Max)); err != nil || got.Bytes != Max {
		t.Errorf("the longest body: %+v, %v", got, err)
	}
	if _, err := Sum(io.LimitReader(zeros{}, Max+1)); !errors.Is(err, ErrTooLong) {
		t.Errorf("one byte more: %v", err)
	}
	if _, err := Sum(iotest.ErrReader(io.ErrUnexpectedEOF)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body cut off: %v", err)
	}
}
