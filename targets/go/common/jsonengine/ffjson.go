// The values of the contract through ffjson's generated encoders. ffjson leaves
// data behind an interface to encoding/json, and knows named lists not at all,
// so envelope and lists are written here and only the rest is generated.
package jsonengine

import (
	"bytes"
	"fmt"

	fflib "github.com/pquerna/ffjson/fflib/v1"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/jsonengine/ffj"
)

func marshalFF(value any) ([]byte, error) {
	var b fflib.Buffer
	if err := writeFF(&b, value); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func decodeFF(body []byte) (contract.Decoded, error) {
	var batch ffj.Batch
	if err := batch.UnmarshalJSON(body); err != nil {
		return contract.Decoded{}, err
	}
	decoded := contract.Decoded{Records: len(batch.Records)}
	for k := range batch.Records {
		decoded.IDs += batch.Records[k].ID
	}
	return decoded, nil
}

func appendFF(out *bytes.Buffer, value any) error {
	body, err := marshalFF(value)
	if err != nil {
		return err
	}
	_, err = out.Write(body)
	// The memory goes back to ffjson's own pool.
	fflib.Pool(body)
	return err
}

func writeFF(b fflib.EncodingBuffer, value any) error {
	switch v := value.(type) {
	case contract.Answer:
		return writeAnswer(b, v)
	case contract.Empty:
		_, err := b.WriteString("{}")
		return err
	case contract.Health:
		return (*ffj.Health)(&v).MarshalJSONBuf(b)
	case contract.User:
		return (*ffj.User)(&v).MarshalJSONBuf(b)
	case contract.Subject:
		return (*ffj.Subject)(&v).MarshalJSONBuf(b)
	case contract.Cached:
		return (*ffj.Cached)(&v).MarshalJSONBuf(b)
	case contract.Layers:
		return (*ffj.Layers)(&v).MarshalJSONBuf(b)
	case contract.Upload:
		return (*ffj.Upload)(&v).MarshalJSONBuf(b)
	case contract.Complex:
		return writeComplex(b, v)
	case contract.Hops:
		return (*ffj.Hops)(&v).MarshalJSONBuf(b)
	case contract.Param:
		return (*ffj.Param)(&v).MarshalJSONBuf(b)
	case contract.Route:
		return (*ffj.Route)(&v).MarshalJSONBuf(b)
	case contract.Decoded:
		return (*ffj.Decoded)(&v).MarshalJSONBuf(b)
	case contract.Allocated:
		return (*ffj.Allocated)(&v).MarshalJSONBuf(b)
	case contract.RecordList:
		return writeList(b, v, func(r *contract.Record) error { return (*ffj.Record)(r).MarshalJSONBuf(b) })
	case contract.Users:
		b.WriteString(`{"users":`)
		if err := writeList(b, v.Users, func(u *contract.User) error { return (*ffj.User)(u).MarshalJSONBuf(b) }); err != nil {
			return err
		}
		return b.WriteByte('}')
	case contract.Mixed:
		return writeMixed(b, v)
	default:
		return fmt.Errorf("ffjson has no generated code for %T", value)
	}
}

func writeAnswer(b fflib.EncodingBuffer, answer contract.Answer) error {
	b.WriteString(`{"code":`)
	fflib.FormatBits2(b, uint64(max(answer.Code, -answer.Code)), 10, answer.Code < 0)
	b.WriteString(`,"msg":`)
	fflib.WriteJsonString(b, answer.Msg)
	b.WriteString(`,"data":`)
	if err := writeFF(b, answer.Data); err != nil {
		return err
	}
	return b.WriteByte('}')
}

func writeMixed(b fflib.EncodingBuffer, mixed contract.Mixed) error {
	parts := []struct {
		head  string
		value any
	}{{`{"user":`, mixed.User}, {`,"cached":`, mixed.Cached}, {`,"records":`, mixed.Records}}
	for _, part := range parts {
		b.WriteString(part.head)
		if err := writeFF(b, part.value); err != nil {
			return err
		}
	}
	return b.WriteByte('}')
}

func writeComplex(b fflib.EncodingBuffer, page contract.Complex) error {
	b.WriteString(`{"calls":`)
	fflib.FormatBits2(b, uint64(page.Calls), 10, false)
	b.WriteString(`,"users":`)
	if err := writeList(b, page.Users, func(u *contract.User) error { return (*ffj.User)(u).MarshalJSONBuf(b) }); err != nil {
		return err
	}
	b.WriteString(`,"cached":`)
	if err := writeList(b, page.Cached, func(c *contract.Cached) error { return (*ffj.Cached)(c).MarshalJSONBuf(b) }); err != nil {
		return err
	}
	b.WriteString(`,"records":`)
	fflib.FormatBits2(b, uint64(page.Records), 10, false)
	return b.WriteByte('}')
}

// writeList writes the elements in place: a copy into ffjson's types would be
// work that no other engine has.
func writeList[T any](b fflib.EncodingBuffer, list []T, write func(*T) error) error {
	b.WriteByte('[')
	for k := range list {
		if k > 0 {
			b.WriteByte(',')
		}
		if err := write(&list[k]); err != nil {
			return err
		}
	}
	return b.WriteByte(']')
}
