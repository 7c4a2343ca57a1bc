// The handlers and layers: parameters from Fiber's context, the answer through
// c.JSON.
//
// Texts from the context lie in memory that fasthttp uses again after the
// handler. Nothing here keeps one for longer.
package main

import (
	"bytes"
	"strconv"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/logger"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/serve"
	"prony.dev/targets/common/trace"
)

func (t target) ping(c fiber.Ctx) error { return t.write(c, contract.OK(contract.Empty{})) }

func (t target) health(c fiber.Ctx) error {
	status, health := t.Health(c.Context())
	return t.writeJSON(c, status, health)
}

func (t target) records(c fiber.Ctx) error { return t.write(c, t.Count(c.Params("n"))) }

func (t target) user(c fiber.Ctx) error {
	return t.write(c, t.User(c.Context(), c.Params("id"), c.Query("queries")))
}

func (t target) scan(c fiber.Ctx) error { return t.write(c, t.Scan(c.Context(), c.Query("name"))) }

func (t target) file(c fiber.Ctx) error {
	file, info, answer := t.File(c.Params("name"))
	if file == nil {
		return t.write(c, answer)
	}
	// Not c.SendFile, which keeps files open for later requests. fasthttp closes
	// the file once it is sent.
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.SendStream(file, int(info.Size()))
}

func (t target) auth(c fiber.Ctx) error { return t.write(c, t.Token(c.Get(fiber.HeaderAuthorization))) }

func (t target) cache(c fiber.Ctx) error { return t.write(c, t.Value(c.Context(), c.Params("key"))) }

func (t target) remote(c fiber.Ctx) error { return t.write(c, t.Remote(c.Context(), c.Params("n"))) }

func (t target) mixed(c fiber.Ctx) error { return t.write(c, t.Mixed(c.Context(), c.Query("id"))) }

// upload has the body whole in memory, as Fiber reads it, no longer than its
// BodyLimit. c.Body would unpack what the client has packed.
func (t target) upload(c fiber.Ctx) error { return t.write(c, t.Upload(bytes.NewReader(c.BodyRaw()))) }

// layers answers without any, and what is no number of layers.
func (t target) layers(c fiber.Ctx) error { return t.write(c, t.Layers(c.Params("k"))) }

// behind is the handler behind k layers.
func (t target) behind(k int) fiber.Handler {
	text := strconv.Itoa(k)
	return func(c fiber.Ctx) error { return t.write(c, t.Layers(text)) }
}

func (t target) logged() fiber.Handler { return logger.New(logger.Config{Stream: t.Log}) }

func (t target) authorized(c fiber.Ctx) error {
	if answer := t.Token(c.Get(fiber.HeaderAuthorization)); answer.Code != 0 {
		return t.write(c, answer)
	}
	return c.Next()
}

func traced(c fiber.Ctx) error {
	c.Set(trace.Header, trace.Answer(c.Get(trace.Header)))
	return c.Next()
}

// parsed parses query and form before every handler but /upload, whose body is
// its own.
func parsed(c fiber.Ctx) error {
	if c.Path() != "/upload" {
		request := c.RequestCtx()
		request.QueryArgs()
		request.PostArgs()
		// A bad form is the affair of who uses it.
		_, _ = request.MultipartForm()
	}
	return c.Next()
}

// counted counts each request before its route is found, and times it.
func (t target) counted(c fiber.Ctx) error {
	start := t.Served.Begin(c.Path())
	err := c.Next()
	t.Served.End(start)
	return err
}

// pooled has the workers run the rest.
func (t target) pooled(c fiber.Ctx) (err error) {
	if !t.Workers.Takes(c.Path()) {
		return c.Next()
	}
	if !t.Workers.Run(func() { err = c.Next() }) {
		return t.write(c, serve.Busy())
	}
	return err
}

func next(c fiber.Ctx) error { return c.Next() }

func (t target) write(c fiber.Ctx, answer contract.Answer) error {
	return t.writeJSON(c, answer.Status(), answer)
}

// writeJSON is c.JSON, which encodes into fresh memory, or the same through a
// buffer of the pool.
func (t target) writeJSON(c fiber.Ctx, status int, value any) error {
	c.Status(status)
	if !t.JSON.Pooled() {
		return c.JSON(value)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSONCharsetUTF8)
	c.Response().ResetBody()
	return t.JSON.Write(c, value)
}
