// The staged handler: a wait, a 4 KiB payload with its checksum, and the side
// experiments on top (objects.go, shared.go), done in place or by workers
// (handover.go).
//
// The stages naive and cores take a fresh payload for each request and encode
// with encoding/json; pooled takes it from a pool, appends the answer to the
// same buffer and writes it in one go. The bytes of the answer are the same.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"sync"
	"time"

	"prony.dev/targets/common/plain"
)

// Large enough that a fresh one for each request keeps the collector busy.
const payloadBytes = 4096

// errWork means that a lock, a queue or a pool lost or mixed up what it held.
var errWork = errors.New("the work came out wrong")

// result is the data of /work. It depends on no setting.
type result struct {
	Bytes int    `json:"bytes"`
	CRC32 string `json:"crc32"`
}

// workHandler answers /work. All its parts are safe for concurrent use.
type workHandler struct {
	wait    time.Duration
	sleep   func(time.Duration)
	hand    handover
	side    []func() error
	respond func(w http.ResponseWriter, work func() error)
}

func newWorkHandler(chosen settings) *workHandler {
	h := &workHandler{
		wait:    chosen.wait,
		sleep:   time.Sleep,
		hand:    newHandover(chosen),
		respond: respondFresh,
	}
	if chosen.stage == "pooled" {
		h.respond = respondPooled
	}
	if objects := newObjects(chosen); objects != nil {
		h.side = append(h.side, objects)
	}
	if shared := newShared(chosen); shared != nil {
		h.side = append(h.side, shared)
	}
	return h
}

func (h *workHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.respond(w, func() error { return h.hand.do(r.Context(), h.burden) })
}

// burden is what the knobs add to a request beside its payload.
func (h *workHandler) burden() error {
	if h.wait > 0 {
		h.sleep(h.wait)
	}
	for _, work := range h.side {
		if err := work(); err != nil {
			return err
		}
	}
	return nil
}

func respondFresh(w http.ResponseWriter, work func() error) {
	if err := work(); err != nil {
		fail(w, err)
		return
	}
	payload := appendPayload(make([]byte, 0, payloadBytes))
	body, err := json.Marshal(plain.OK(result{len(payload), fmt.Sprintf("%08x", crc32.ChecksumIEEE(payload))}))
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// A failed write means that the client has gone.
	_, _ = w.Write(body)
}

// buffers holds payloads with room for the answer behind them.
var buffers = sync.Pool{New: func() any {
	buffer := make([]byte, 0, payloadBytes+256)
	return &buffer
}}

// The one slice that all answers of the stage pooled share as their header.
var jsonType = []string{"application/json"}

func respondPooled(w http.ResponseWriter, work func() error) {
	if err := work(); err != nil {
		fail(w, err)
		return
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	payload := appendPayload((*buffer)[:0])
	answer := appendAnswer(payload, len(payload), crc32.ChecksumIEEE(payload))
	w.Header()["Content-Type"] = jsonType
	// A failed write means that the client has gone.
	_, _ = w.Write(answer[len(payload):])
	*buffer = answer
}

// appendPayload writes payloadBytes bytes that depend on their place only.
func appendPayload(to []byte) []byte {
	for k := range payloadBytes {
		to = append(to, byte(k*31>>3))
	}
	return to
}

// appendAnswer writes what encoding/json would, without reflection.
func appendAnswer(to []byte, size int, sum uint32) []byte {
	to = append(to, `{"code":0,"msg":"ok","data":{"bytes":`...)
	to = strconv.AppendInt(to, int64(size), 10)
	to = append(to, `,"crc32":"`...)
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		to = append(to, digits[sum>>shift&15])
	}
	return append(to, `"}}`...)
}

// fail answers 503 where the client gave up waiting for a worker, else 500.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusServiceUnavailable
	if errors.Is(err, errWork) {
		status = http.StatusInternalServerError
	}
	plain.WriteJSON(w, status, plain.Answer{Code: status, Msg: err.Error(), Data: plain.Empty{}})
}
