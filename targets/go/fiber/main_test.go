// Tests of the routes over connections in memory: the contract that all Go
// targets share, and what Fiber does with a panic, a form, a packed body and a
// stop.
package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/valyala/fasthttp/fasthttputil"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/contracttest"
	"prony.dev/targets/common/jsonengine"
	"prony.dev/targets/common/knobs"
)

// overMemory asks a server the requests that it is given, each on a connection
// of its own.
type overMemory struct{ *fasthttputil.InmemoryListener }

// served starts router in memory until the test ends.
func served(t *testing.T, router *fiber.App) http.Handler {
	t.Helper()
	listener := fasthttputil.NewInmemoryListener()
	ended := make(chan error, 1)
	go func() { ended <- router.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true}) }()
	t.Cleanup(func() {
		listener.Close()
		if err := <-ended; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	return overMemory{listener}
}

func (m overMemory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	connection, err := m.Dial()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	sent := make(chan struct{})
	go func() {
		// What the server refuses cannot be sent to its end; its answer says so.
		_ = r.Write(connection)
		close(sent)
	}()
	answer, err := http.ReadResponse(bufio.NewReader(connection), r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	} else {
		for name, values := range answer.Header {
			w.Header()[name] = values
		}
		if answer.Close {
			w.Header().Set("Connection", "close")
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}
	connection.Close()
	<-sent
}

func TestContract(t *testing.T) {
	contracttest.Check(t, func(a *app.App) http.Handler { return served(t, newRouter(a)) })
}

func ask(handler http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	question := httptest.NewRequest(method, path, strings.NewReader(body))
	for k := 0; k < len(headers); k += 2 {
		question.Header.Set(headers[k], headers[k+1])
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, question)
	return recorder
}

// A panic in a handler must cost one answer, not the process.
func TestPanicIsAnswered(t *testing.T) {
	for handler, want := range map[string]string{knobs.Framework: "planted", knobs.Contract: `"code":500`} {
		a := contracttest.NewApp(t)
		a.Knobs.ErrorHandler = handler
		router := newRouter(a)
		router.Get("/panic", func(fiber.Ctx) error { panic("planted") })
		answer := ask(served(t, router), http.MethodGet, "/panic", "")
		if body := answer.Body.String(); answer.Code != http.StatusInternalServerError || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", handler, answer.Code, body)
		}
	}
}

func TestOnlyTheExactPathIsARoute(t *testing.T) {
	handler := served(t, newRouter(contracttest.NewApp(t)))
	for _, path := range []string{"/PING", "/ping/", "/json/1/"} {
		if answer := ask(handler, http.MethodGet, path, ""); answer.Code != http.StatusNotFound {
			t.Errorf("%s: status %d; want 404", path, answer.Code)
		}
	}
}

// The checksum is of the bytes as they came, also of a form in a spelling that
// is not Go's, and of what is said to be packed.
func TestUploadIsTakenAsItComes(t *testing.T) {
	form := "--x\r\nContent-Disposition:form-data;name=a\r\n\r\nb\r\n--x--\r\n"
	handler := served(t, newRouter(contracttest.NewApp(t)))
	for header, value := range map[string]string{
		fiber.HeaderContentType: "multipart/form-data; boundary=x", fiber.HeaderContentEncoding: "gzip",
	} {
		plain := ask(handler, http.MethodPost, "/upload", form)
		other := ask(handler, http.MethodPost, "/upload", form, header, value)
		if plain.Code != http.StatusOK || plain.Body.String() != other.Body.String() {
			t.Errorf("%s: %d %s; want %s", header, other.Code, other.Body, plain.Body)
		}
	}
}

// Fiber runs the layers of the knobs before its error handler: what they have
// written must not stay in the answer, also where buffers are used again.
func TestTooLongHasTheEnvelope(t *testing.T) {
	a := contracttest.NewApp(t)
	a.Knobs.NotFound = knobs.Contract
	engine, err := jsonengine.New("goccy", true)
	if err != nil {
		t.Fatal(err)
	}
	a.JSON = engine
	router := newRouter(a)
	router.Server().MaxRequestBodySize = 3
	answer := ask(served(t, router), http.MethodPost, "/upload", "four")
	want := `{"code":413,"msg":"the body is longer than 16 MiB","data":{}}`
	if answer.Code != http.StatusRequestEntityTooLarge || strings.TrimSpace(answer.Body.String()) != want {
		t.Errorf("%d %s; want 413 %s", answer.Code, answer.Body, want)
	}
}

func TestKnobsReachFiber(t *testing.T) {
	a := contracttest.NewApp(t)
	config := newRouter(a).Config()
	if config.DisableKeepalive || config.IdleTimeout != a.Knobs.KeepAliveTimeout ||
		config.ReadTimeout != a.Knobs.ReadTimeout || config.WriteTimeout != a.Knobs.WriteTimeout {
		t.Errorf("got %+v; want %+v", config, a.Knobs)
	}
	a.Knobs.KeepAlive = false
	if answer := ask(served(t, newRouter(a)), http.MethodGet, "/ping", ""); answer.Header().Get("Connection") != "close" {
		t.Errorf("without keep-alive: %v", answer.Header())
	}
	a.Knobs.StartupLog = true
	if newServer(newRouter(a), a.Knobs).settings.DisableStartupMessage {
		t.Error("the knob startup-log says nothing")
	}
}

// A stop frees the port, whether it comes before or after Fiber serves.
func TestStopEndsServing(t *testing.T) {
	a := contracttest.NewApp(t)
	for range 20 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(newRouter(a), a.Knobs)
		served := make(chan error, 1)
		go func() { served <- s.Serve(listener) }()
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("the stop ended with %v", err)
		}
		<-served
		again, err := net.Listen("tcp", listener.Addr().String())
		if err != nil {
			t.Fatalf("the port is not free after the stop: %v", err)
		}
		again.Close()
	}
}
