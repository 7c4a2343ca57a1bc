// Package trace makes the traceparent header of an answer, as W3C Trace Context
// level 1 writes it: version, trace id, span id, flags.
//
// Ids are drawn from a fast source: they must differ, not be secret.
package trace

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// Header is the header's name, as net/http writes it.
const Header = "Traceparent"

const length = len("00-") + 32 + len("-") + 16 + len("-00")

// Answer takes over the trace id and the flags of a request's header, or draws
// an id where the header is missing or wrong, and draws a span id.
func Answer(request string) string {
	out := make([]byte, 0, length)
	out = append(out, "00-"...)
	flags := "-01"
	if valid(request) {
		out = append(out, request[3:35]...)
		flags = request[52:55]
	} else {
		out = random(random(out))
	}
	out = random(append(out, '-'))
	return string(append(out, flags...))
}

// random appends eight bytes that are not all 0, which the standard forbids.
func random(out []byte) []byte {
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64()|1)
	return hex.AppendEncode(out, id[:])
}

func valid(header string) bool {
	if len(header) != length || header[:3] != "00-" || header[35] != '-' || header[52] != '-' {
		return false
	}
	return isID(header[3:35]) && isID(header[36:52]) && isHex(header[53:55])
}

func isID(text string) bool {
	for k := range len(text) {
		if text[k] != '0' {
			return isHex(text)
		}
	}
	return false
}

func isHex(text string) bool {
	for k := range len(text) {
		if c := text[k]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
