// Package jsonengine encodes the answers with one of five engines, each in its
// usual settings, into a fresh buffer or into one that is used again.
//
// easyjson and ffjson have generated code for the contract's types. A value
// that they have no code for is an error, never left to encoding/json: that
// would measure the wrong engine.
package jsonengine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/encoder"
	goccy "github.com/goccy/go-json"
	"github.com/mailru/easyjson"

	"prony.dev/targets/common/contract"
)

// A buffer that has grown beyond this is not kept: one long answer must not
// hold its memory for ever.
const keptMax = 2 << 20

// Engine encodes values; it is safe for concurrent use.
type Engine struct {
	// Marshal encodes into fresh memory.
	Marshal func(any) ([]byte, error)
	// Decode reads the body of /decode whole and tells what it holds.
	Decode  func(body []byte) (contract.Decoded, error)
	append  func(*bytes.Buffer, any) error
	buffers *sync.Pool // nil: no buffer is used again
}

var engines = map[string]Engine{
	"std":      {Marshal: json.Marshal, Decode: decoder(json.Unmarshal), append: func(b *bytes.Buffer, v any) error { return json.NewEncoder(b).Encode(v) }},
	"goccy":    {Marshal: goccy.Marshal, Decode: decoder(goccy.Unmarshal), append: func(b *bytes.Buffer, v any) error { return goccy.NewEncoder(b).Encode(v) }},
	"sonic":    {Marshal: sonic.Marshal, Decode: decoder(sonic.Unmarshal), append: appendSonic},
	"easyjson": {Marshal: marshalEasy, Decode: decodeEasy, append: appendEasy},
	"ffjson":   {Marshal: marshalFF, Decode: decodeFF, append: appendFF},
}

// New finds an engine by name. With pooled, Write uses its buffers again.
func New(name string, pooled bool) (Engine, error) {
	engine, ok := engines[name]
	if !ok {
		return Engine{}, fmt.Errorf("no JSON engine %q", name)
	}
	if name == "sonic" && !sonicNative {
		return Engine{}, errors.New("JSON_ENGINE=sonic: this version of sonic has no encoder for this processor and Go version " +
			"and would use encoding/json; build on amd64 or arm64 with Go 1.26, or choose another engine")
	}
	if pooled {
		engine.buffers = &sync.Pool{New: func() any { return new(bytes.Buffer) }}
	}
	return engine, nil
}

// Write encodes value and writes it to w in one go.
func (e Engine) Write(w io.Writer, value any) error {
	if e.buffers == nil {
		body, err := e.Marshal(value)
		if err != nil {
			return err
		}
		_, err = w.Write(body)
		return err
	}
	buffer := e.buffers.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= keptMax {
			buffer.Reset()
			e.buffers.Put(buffer)
		}
	}()
	if err := e.append(buffer, value); err != nil {
		return err
	}
	_, err := w.Write(buffer.Bytes())
	return err
}

// decoder decodes into fresh memory by a function with the form of encoding/json's.
func decoder(unmarshal func([]byte, any) error) func([]byte) (contract.Decoded, error) {
	return func(body []byte) (contract.Decoded, error) {
		var batch contract.Batch
		if err := unmarshal(body, &batch); err != nil {
			return contract.Decoded{}, err
		}
		return batch.Count(), nil
	}
}

func decodeEasy(body []byte) (contract.Decoded, error) {
	var batch contract.Batch
	if err := easyjson.Unmarshal(body, &batch); err != nil {
		return contract.Decoded{}, err
	}
	return batch.Count(), nil
}

// Pooled tells whether Write uses its buffers again.
func (e Engine) Pooled() bool { return e.buffers != nil }

func appendSonic(b *bytes.Buffer, value any) error {
	body := b.AvailableBuffer()
	if err := encoder.EncodeInto(&body, value, 0); err != nil {
		return err
	}
	_, err := b.Write(body)
	return err
}

func marshalEasy(value any) ([]byte, error) {
	m, err := easy(value)
	if err != nil {
		return nil, err
	}
	return easyjson.Marshal(m)
}

func appendEasy(b *bytes.Buffer, value any) error {
	m, err := easy(value)
	if err != nil {
		return err
	}
	_, err = easyjson.MarshalToWriter(m, b)
	return err
}

// easy tells the generated encoder of value. The envelope's own would leave
// data without one to encoding/json.
func easy(value any) (easyjson.Marshaler, error) {
	if answer, ok := value.(contract.Answer); ok {
		if _, ok := answer.Data.(easyjson.Marshaler); !ok {
			return nil, fmt.Errorf("easyjson has no generated code for %T", answer.Data)
		}
	}
	m, ok := value.(easyjson.Marshaler)
	if !ok {
		return nil, fmt.Errorf("easyjson has no generated code for %T", value)
	}
	return m, nil
}
