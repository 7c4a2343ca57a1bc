// Tests of the plain routes, of binding and of the stop.
package plain

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"prony.dev/targets/common/plain/plaintest"
)

func TestRoutes(t *testing.T) {
	plaintest.Check(t, Routes(), "../../../..")
}

func TestListenErrorsNameCauseAndRemedy(t *testing.T) {
	holder, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	for address, part := range map[string]string{holder.Addr().String(): "is taken", "127.0.0.1": "missing port"} {
		_, err := Listen(address)
		if err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "set LISTEN") {
			t.Errorf("%s: got %v; want %q and the remedy", address, err, part)
		}
	}
}

// A request that outlasts the grace is cut off and said; one that does not is answered.
func TestShutdownCutsOffWhatOutlastsTheGrace(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	entered, release := make(chan struct{}), make(chan struct{})
	server := NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
	}))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	asked := make(chan error, 1)
	go func() {
		answer, err := http.Get("http://" + listener.Addr().String())
		if err == nil {
			answer.Body.Close()
		}
		asked <- err
	}()
	<-entered
	if err := Shutdown(server, time.Millisecond); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("got %v; want an error that says cut off", err)
	}
	if err := <-asked; err == nil {
		t.Error("the request cut off was answered")
	}
	close(release)
	if err := <-served; err != http.ErrServerClosed {
		t.Errorf("serving ended with %v", err)
	}
}
