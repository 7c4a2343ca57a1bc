// The handlers and layers: parameters from Iris' context, the answer written to
// it.
package main

import (
	"strconv"

	"github.com/kataras/iris/v12"
	"github.com/kataras/iris/v12/middleware/accesslog"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/trace"
	"prony.dev/targets/common/upload"
)

func (t target) ping(ctx iris.Context) { t.write(ctx, contract.OK(contract.Empty{})) }

func (t target) health(ctx iris.Context) {
	status, health := t.Health(ctx.Request().Context())
	t.writeJSON(ctx, status, health)
}

func (t target) records(ctx iris.Context) { t.write(ctx, t.Count(ctx.Params().Get("n"))) }

func (t target) user(ctx iris.Context) {
	t.write(ctx, t.User(ctx.Request().Context(), ctx.Params().Get("id"), ctx.URLParam("queries")))
}

func (t target) scan(ctx iris.Context) {
	t.write(ctx, t.Scan(ctx.Request().Context(), ctx.URLParam("name")))
}

func (t target) file(ctx iris.Context) {
	file, info, answer := t.File(ctx.Params().Get("name"))
	if file == nil {
		t.write(ctx, answer)
		return
	}
	defer file.Close()
	// As ctx.ServeFile does it, but for a file that is open already.
	ctx.ContentType("application/octet-stream")
	ctx.ServeContent(file, info.Name(), info.ModTime())
}

func (t target) auth(ctx iris.Context) { t.write(ctx, t.Token(ctx.GetHeader("Authorization"))) }

func (t target) cache(ctx iris.Context) {
	t.write(ctx, t.Value(ctx.Request().Context(), ctx.Params().Get("key")))
}

func (t target) remote(ctx iris.Context) {
	t.write(ctx, t.Remote(ctx.Request().Context(), ctx.Params().Get("n")))
}

func (t target) mixed(ctx iris.Context) {
	t.write(ctx, t.Mixed(ctx.Request().Context(), ctx.URLParam("id")))
}

func (t target) upload(ctx iris.Context) {
	ctx.SetMaxRequestBodySize(upload.Max + 1)
	t.write(ctx, t.Upload(ctx.Request().Body))
}

// layers answers without any, and what is no number of layers.
func (t target) layers(ctx iris.Context) { t.write(ctx, t.Layers(ctx.Params().Get("k"))) }

// behind is the handler behind k layers.
func (t target) behind(k int) iris.Handler {
	text := strconv.Itoa(k)
	return func(ctx iris.Context) { t.write(ctx, t.Layers(text)) }
}

// logged leaves out the bodies, which Iris' log has by default: the line would
// be as long as an upload.
func (t target) logged() iris.Handler {
	log := accesslog.New(t.Log)
	log.RequestBody = false
	log.BytesReceivedBody = false
	return log.Handler
}

func (t target) authorized(ctx iris.Context) {
	if answer := t.Token(ctx.GetHeader("Authorization")); answer.Code != 0 {
		t.write(ctx, answer)
		ctx.StopExecution()
		return
	}
	ctx.Next()
}

func traced(ctx iris.Context) {
	ctx.Header(trace.Header, trace.Answer(ctx.GetHeader(trace.Header)))
	ctx.Next()
}

// parsed parses query and form before every handler but /upload, whose body is
// its own.
func parsed(ctx iris.Context) {
	if ctx.Path() != "/upload" {
		// A bad form is the affair of who uses it.
		_ = ctx.Request().ParseForm()
	}
	ctx.Next()
}

func (t target) write(ctx iris.Context, answer contract.Answer) {
	t.writeJSON(ctx, answer.Status(), answer)
}

// writeJSON does what ctx.JSON does, with an engine that a knob chooses: Iris'
// own can only be chosen for the whole process.
func (t target) writeJSON(ctx iris.Context, status int, value any) {
	ctx.StatusCode(status)
	ctx.ContentType("application/json")
	// Every value here can be encoded, so an error means that the client has gone.
	_ = t.JSON.Write(ctx, value)
}
