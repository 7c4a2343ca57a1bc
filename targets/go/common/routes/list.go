// Package routes has what targets with many routes share: their patterns, and a
// router that is nothing but a list, which looks at one route after the other.
package routes

import (
	"net/http"
	"strconv"
	"strings"
)

// Each calls add for every route number, the highest first: those that a load
// asks, 0 to 9, are then the last that a list comes to, whatever their number.
func Each(count int, add func(number int)) {
	for k := count - 1; k >= 0; k-- {
		add(k)
	}
}

// Path is the pattern of a route, with its parameter written as the framework
// wants it: "{id}" or ":id".
func Path(number int, parameter string) string {
	return "/routes/" + strconv.Itoa(number) + "/" + parameter
}

// List is a router without an index. It is not safe to add while it serves.
type List struct {
	routes []route
}

type route struct {
	method   string
	segments []string // "" stands for the parameter
	handler  func(w http.ResponseWriter, r *http.Request, id string)
}

// Add puts a route at the end; path has one parameter, written {id}.
func (l *List) Add(method, path string, handler func(w http.ResponseWriter, r *http.Request, id string)) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for k, segment := range segments {
		if segment == "{id}" {
			segments[k] = ""
		}
	}
	l.routes = append(l.routes, route{method, segments, handler})
}

// ServeHTTP calls the first route that fits, and reports whether there is one.
func (l *List) ServeHTTP(w http.ResponseWriter, r *http.Request) (found bool) {
	path := strings.TrimPrefix(r.URL.Path, "/")
	for k := range l.routes {
		route := &l.routes[k]
		if route.method != r.Method {
			continue
		}
		if id, ok := match(route.segments, path); ok {
			route.handler(w, r, id)
			return true
		}
	}
	return false
}

// match compares segment by segment without splitting the path.
func match(segments []string, path string) (id string, ok bool) {
	for k, segment := range segments {
		here, rest, more := strings.Cut(path, "/")
		if more != (k < len(segments)-1) || here == "" {
			return "", false
		}
		switch segment {
		case "":
			id = here
		case here:
		default:
			return "", false
		}
		path = rest
	}
	return id, true
}
