// The handlers and layers: parameters from Gin's context, the answer through
// c.Render.
package main

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/render"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/jsonengine"
	"prony.dev/targets/common/trace"
	"prony.dev/targets/common/upload"
)

func (t target) ping(c *gin.Context) { t.write(c, contract.OK(contract.Empty{})) }

func (t target) health(c *gin.Context) {
	status, health := t.Health(c.Request.Context())
	c.Render(status, body{t.JSON, health})
}

func (t target) records(c *gin.Context) { t.write(c, t.Count(c.Param("n"))) }

func (t target) user(c *gin.Context) {
	t.write(c, t.User(c.Request.Context(), c.Param("id"), c.Query("queries")))
}

func (t target) scan(c *gin.Context) { t.write(c, t.Scan(c.Request.Context(), c.Query("name"))) }

func (t target) file(c *gin.Context) {
	file, info, answer := t.File(c.Param("name"))
	if file == nil {
		t.write(c, answer)
		return
	}
	defer file.Close()
	// As c.File does it, but for a file that is open already.
	c.Header("Content-Type", "application/octet-stream")
	http.ServeContent(c.Writer, c.Request, info.Name(), info.ModTime(), file)
}

func (t target) auth(c *gin.Context) { t.write(c, t.Token(c.GetHeader("Authorization"))) }

func (t target) cache(c *gin.Context) { t.write(c, t.Value(c.Request.Context(), c.Param("key"))) }

func (t target) remote(c *gin.Context) { t.write(c, t.Remote(c.Request.Context(), c.Param("n"))) }

func (t target) mixed(c *gin.Context) { t.write(c, t.Mixed(c.Request.Context(), c.Query("id"))) }

func (t target) upload(c *gin.Context) {
	// The reader closes the connection of a client that sends more.
	t.write(c, t.Upload(http.MaxBytesReader(c.Writer, c.Request.Body, upload.Max+1)))
}

// layers answers without any, and what is no number of layers.
func (t target) layers(c *gin.Context) { t.write(c, t.Layers(c.Param("k"))) }

// behind is the handler behind k layers.
func (t target) behind(k int) gin.HandlerFunc {
	text := strconv.Itoa(k)
	return func(c *gin.Context) { t.write(c, t.Layers(text)) }
}

func (t target) hops(c *gin.Context) { t.write(c, t.chains.Answer(c.Param("k"), c.Query("times"))) }

// param reads its parameter by name, or into a struct by Gin's binding.
func (t target) param(c *gin.Context) {
	read := func() string { return c.Param("id") }
	if c.Query("by") == "reflection" {
		read = func() string {
			var into struct {
				ID string `uri:"id"`
			}
			// A text goes into a text.
			_ = c.ShouldBindUri(&into)
			return into.ID
		}
	}
	t.write(c, t.Param(c.Query("reads"), read))
}

// numbered is the handler of one of many routes.
func (t target) numbered(number int) gin.HandlerFunc {
	return func(c *gin.Context) { t.write(c, contract.OK(contract.Route{Route: number, ID: c.Param("id")})) }
}

func (t target) decode(c *gin.Context) {
	// The reader closes the connection of a client that sends more.
	t.write(c, t.Decode(http.MaxBytesReader(c.Writer, c.Request.Body, upload.Max+1), c.Request.ContentLength))
}

func (t target) complex(c *gin.Context) {
	t.write(c, t.Complex(c.Request.Context(), c.Param("id"), c.Query("calls")))
}

func (t target) allocate(c *gin.Context) { t.write(c, t.Allocate(c.Param("n"), c.Query("cycles"))) }

// empty is a handler behind k layers that only call the next one.
func empty(k int) http.Handler {
	router := gin.New()
	for range k {
		router.Use(func(c *gin.Context) { c.Next() })
	}
	router.GET("/", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	return router
}

func (t target) authorized(c *gin.Context) {
	if answer := t.Token(c.GetHeader("Authorization")); answer.Code != 0 {
		t.write(c, answer)
		c.Abort()
	}
}

func traced(c *gin.Context) {
	c.Header(trace.Header, trace.Answer(c.GetHeader(trace.Header)))
}

func (t target) write(c *gin.Context, answer contract.Answer) {
	c.Render(answer.Status(), body{t.JSON, answer})
}

// body is what c.JSON renders with, for an engine that a knob chooses: Gin's
// own can only be chosen for the whole process at its build or start.
type body struct {
	engine jsonengine.Engine
	value  any
}

var _ render.Render = body{}

func (b body) Render(w http.ResponseWriter) error {
	b.WriteContentType(w)
	return b.engine.Write(w, b.value)
}

func (body) WriteContentType(w http.ResponseWriter) {
	w.Header().Set("Content-Type", gin.MIMEJSON+"; charset=utf-8")
}
