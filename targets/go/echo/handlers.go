// The handlers and layers: parameters from Echo's context, the answer through
// c.JSON and Echo's serializer.
package main

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/jsonengine"
	"prony.dev/targets/common/serve"
	"prony.dev/targets/common/trace"
	"prony.dev/targets/common/upload"
)

func (t target) ping(c echo.Context) error { return t.write(c, contract.OK(contract.Empty{})) }

func (t target) health(c echo.Context) error {
	return c.JSON(t.Health(c.Request().Context()))
}

func (t target) records(c echo.Context) error { return t.write(c, t.Count(c.Param("n"))) }

func (t target) user(c echo.Context) error {
	return t.write(c, t.User(c.Request().Context(), c.Param("id"), c.QueryParam("queries")))
}

func (t target) scan(c echo.Context) error {
	return t.write(c, t.Scan(c.Request().Context(), c.QueryParam("name")))
}

func (t target) file(c echo.Context) error {
	file, info, answer := t.File(c.Param("name"))
	if file == nil {
		return t.write(c, answer)
	}
	defer file.Close()
	// As c.File does it, but for a file that is open already.
	c.Response().Header().Set(echo.HeaderContentType, echo.MIMEOctetStream)
	http.ServeContent(c.Response(), c.Request(), info.Name(), info.ModTime(), file)
	return nil
}

func (t target) auth(c echo.Context) error {
	return t.write(c, t.Token(c.Request().Header.Get(echo.HeaderAuthorization)))
}

func (t target) cache(c echo.Context) error {
	return t.write(c, t.Value(c.Request().Context(), c.Param("key")))
}

func (t target) remote(c echo.Context) error {
	return t.write(c, t.Remote(c.Request().Context(), c.Param("n")))
}

func (t target) mixed(c echo.Context) error {
	return t.write(c, t.Mixed(c.Request().Context(), c.QueryParam("id")))
}

func (t target) upload(c echo.Context) error {
	// The reader closes the connection of a client that sends more.
	return t.write(c, t.Upload(http.MaxBytesReader(c.Response(), c.Request().Body, upload.Max+1)))
}

// layers answers without any, and what is no number of layers.
func (t target) layers(c echo.Context) error { return t.write(c, t.Layers(c.Param("k"))) }

// behind is the handler behind k layers.
func (t target) behind(k int) echo.HandlerFunc {
	text := strconv.Itoa(k)
	return func(c echo.Context) error { return t.write(c, t.Layers(text)) }
}

func (t target) hops(c echo.Context) error {
	return t.write(c, t.chains.Answer(c.Param("k"), c.QueryParam("times")))
}

// param reads its parameter by name, or into a struct by Echo's binder.
func (t target) param(c echo.Context) error {
	read := func() string { return c.Param("id") }
	if c.QueryParam("by") == "reflection" {
		binder := new(echo.DefaultBinder)
		read = func() string {
			var into struct {
				ID string `param:"id"`
			}
			// A text goes into a text.
			_ = binder.BindPathParams(c, &into)
			return into.ID
		}
	}
	return t.write(c, t.Param(c.QueryParam("reads"), read))
}

// numbered is the handler of one of many routes.
func (t target) numbered(number int) echo.HandlerFunc {
	return func(c echo.Context) error {
		return t.write(c, contract.OK(contract.Route{Route: number, ID: c.Param("id")}))
	}
}

func (t target) decode(c echo.Context) error {
	// The reader closes the connection of a client that sends more.
	body := http.MaxBytesReader(c.Response(), c.Request().Body, upload.Max+1)
	return t.write(c, t.Decode(body, c.Request().ContentLength))
}

func (t target) complex(c echo.Context) error {
	return t.write(c, t.Complex(c.Request().Context(), c.Param("id"), c.QueryParam("calls")))
}

func (t target) allocate(c echo.Context) error {
	return t.write(c, t.Allocate(c.Param("n"), c.QueryParam("cycles")))
}

// empty is a handler behind k layers that only call the next one.
func empty(k int) http.Handler {
	e := echo.New()
	for range k {
		e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c echo.Context) error { return next(c) }
		})
	}
	e.GET("/", func(c echo.Context) error { return c.NoContent(http.StatusNoContent) })
	return e
}

func (t target) logged() echo.MiddlewareFunc {
	config := middleware.DefaultLoggerConfig
	config.Output = t.Log
	return middleware.LoggerWithConfig(config)
}

func (t target) authorized(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if answer := t.Token(c.Request().Header.Get(echo.HeaderAuthorization)); answer.Code != 0 {
			return t.write(c, answer)
		}
		return next(c)
	}
}

func traced(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(trace.Header, trace.Answer(c.Request().Header.Get(trace.Header)))
		return next(c)
	}
}

// parsed parses query and form before every handler but /upload, whose body is
// its own.
func parsed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Path() != "/upload" {
			// A bad form is the affair of who uses it.
			_, _ = c.FormParams()
		}
		return next(c)
	}
}

// counted counts each request before its route is found, and times it.
func (t target) counted(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := t.Served.Begin(c.Request().URL.Path)
		err := next(c)
		t.Served.End(start)
		return err
	}
}

// pooled has the workers run the rest. StartServer sets the handler itself, so
// the pool cannot stand before Echo.
func (t target) pooled(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		if !t.Workers.Takes(c.Request().URL.Path) {
			return next(c)
		}
		if !t.Workers.Run(func() { err = next(c) }) {
			return t.write(c, serve.Busy())
		}
		return err
	}
}

func (t target) write(c echo.Context, answer contract.Answer) error {
	return c.JSON(answer.Status(), answer)
}

// serializer writes with the engine that the knob chooses.
type serializer struct{ engine jsonengine.Engine }

func (s serializer) Serialize(c echo.Context, value any, _ string) error {
	// Echo's own errors are maps, which only encoding/json takes in every engine.
	if _, other := value.(echo.Map); other {
		return json.NewEncoder(c.Response()).Encode(value)
	}
	return s.engine.Write(c.Response(), value)
}

func (serializer) Deserialize(c echo.Context, into any) error {
	return json.NewDecoder(c.Request().Body).Decode(into)
}
