// The layers, as functions from handler to handler.
package main

import (
	"log/slog"
	"net/http"
	"time"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/trace"
)

type layer func(http.Handler) http.Handler

// chain puts the layers before handler, the first outermost.
func chain(handler http.Handler, layers ...layer) http.Handler {
	for k := len(layers) - 1; k >= 0; k-- {
		handler = layers[k](handler)
	}
	return handler
}

func none(next http.Handler) http.Handler { return next }

// statusWriter remembers the status for the log.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (t target) logged(next http.Handler) http.Handler {
	logger := slog.New(slog.NewTextHandler(t.Log, nil))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		out := &statusWriter{w, http.StatusOK}
		next.ServeHTTP(out, r)
		logger.LogAttrs(r.Context(), slog.LevelInfo, "request", slog.String("method", r.Method),
			slog.String("path", r.URL.Path), slog.Int("status", out.status), slog.Duration("duration", time.Since(start)))
	})
}

func (t target) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer := t.Token(r.Header.Get("Authorization")); answer.Code != 0 {
			t.write(w, answer)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func traced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(trace.Header, trace.Answer(r.Header.Get(trace.Header)))
		next.ServeHTTP(w, r)
	})
}

// parsed parses query and form before every handler but /upload, whose body is
// its own.
func parsed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/upload" {
			// A bad form is the affair of who uses it.
			_ = r.ParseForm()
		}
		next.ServeHTTP(w, r)
	})
}

// recovered answers after a panic, where net/http would close the connection.
func (t target) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if cause := recover(); cause != nil {
				slog.Error("panic in a handler", "path", r.URL.Path, "cause", cause)
				t.write(w, app.Panicked())
			}
		}()
		next.ServeHTTP(w, r)
	})
}
