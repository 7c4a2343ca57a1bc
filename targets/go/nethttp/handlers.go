// The handlers: parameters from the request, the answer as JSON.
package main

import (
	"net/http"
	"strconv"

	"prony.dev/targets/common/app"
	"prony.dev/targets/common/contract"
	"prony.dev/targets/common/reflected"
	"prony.dev/targets/common/upload"
)

func (t target) ping(w http.ResponseWriter, _ *http.Request) {
	t.write(w, contract.OK(contract.Empty{}))
}

func (t target) health(w http.ResponseWriter, r *http.Request) {
	status, health := t.Health(r.Context())
	t.writeJSON(w, status, health)
}

func (t target) records(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.Count(r.PathValue("n")))
}

func (t target) user(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.User(r.Context(), r.PathValue("id"), r.URL.Query().Get("queries")))
}

func (t target) scan(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.Scan(r.Context(), r.URL.Query().Get("name")))
}

func (t target) file(w http.ResponseWriter, r *http.Request) {
	file, info, answer := t.File(r.PathValue("name"))
	if file == nil {
		t.write(w, answer)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, info.Name(), info.ModTime(), file)
}

func (t target) auth(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.Token(r.Header.Get("Authorization")))
}

func (t target) cache(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.Value(r.Context(), r.PathValue("key")))
}

func (t target) remote(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.Remote(r.Context(), r.PathValue("n")))
}

func (t target) mixed(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.Mixed(r.Context(), r.URL.Query().Get("id")))
}

func (t target) upload(w http.ResponseWriter, r *http.Request) {
	// The reader closes the connection of a client that sends more.
	t.write(w, t.Upload(http.MaxBytesReader(w, r.Body, upload.Max+1)))
}

// layers answers without any, and what is no number of layers.
func (t target) layers(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.Layers(r.PathValue("k")))
}

// behind is the handler behind k layers.
func (t target) behind(k int) http.Handler {
	text := strconv.Itoa(k)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { t.write(w, t.Layers(text)) })
}

func (t target) hops(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.chains.Answer(r.PathValue("k"), r.URL.Query().Get("times")))
}

// param reads its parameter by name, or into a struct by reflection.
func (t target) param(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	read := func() string { return r.PathValue("id") }
	if query.Get("by") == "reflection" {
		read = func() string {
			var into struct {
				ID string `param:"id"`
			}
			reflected.Bind(&into, r.PathValue)
			return into.ID
		}
	}
	t.write(w, t.Param(query.Get("reads"), read))
}

// numbered is the handler of one of many routes.
func (t target) numbered(number int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t.write(w, contract.OK(contract.Route{Route: number, ID: r.PathValue("id")}))
	}
}

func (t target) decode(w http.ResponseWriter, r *http.Request) {
	// The reader closes the connection of a client that sends more.
	t.write(w, t.Decode(http.MaxBytesReader(w, r.Body, upload.Max+1), r.ContentLength))
}

func (t target) complex(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.Complex(r.Context(), r.PathValue("id"), r.URL.Query().Get("calls")))
}

func (t target) allocate(w http.ResponseWriter, r *http.Request) {
	t.write(w, t.Allocate(r.PathValue("n"), r.URL.Query().Get("cycles")))
}

func (t target) notFound(w http.ResponseWriter, _ *http.Request) { t.write(w, app.NotFound()) }

func (t target) write(w http.ResponseWriter, answer contract.Answer) {
	t.writeJSON(w, answer.Status(), answer)
}

func (t target) writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Every value here can be encoded, so an error means that the client has gone.
	_ = t.JSON.Write(w, value)
}
