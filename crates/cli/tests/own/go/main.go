// A small shop as somebody else would write it: net/http, database/sql, and client_golang with its usual collectors.
// Each route has one fault that load brings out; nothing here knows of prony.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func main() {
	mux := http.NewServeMux()
	if os.Getenv("ROLE") == "backend" {
		backend(mux)
	} else {
		shop(mux)
	}
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	listener, err := net.Listen("tcp", os.Getenv("LISTEN"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}

func shop(mux *http.ServeMux) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsAll)))
	registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	orders(mux, registry)
	stock(mux)
	journal(mux)
	prices(mux)
}

// orders asks a database over a pool that is too small for its slow statement.
func orders(mux *http.ServeMux, registry *prometheus.Registry) {
	dsn := os.Getenv("DSN")
	if dsn == "" {
		return
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(2)
	registry.MustRegister(collectors.NewDBStatsCollector(db, "orders"))
	mux.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) {
		if _, err := db.ExecContext(r.Context(), "DO SLEEP(0.01)"); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "order")
	})
}

// stock keeps one lock while it looks something up.
func stock(mux *http.ServeMux) {
	var lock sync.Mutex
	mux.HandleFunc("/stock", func(w http.ResponseWriter, _ *http.Request) {
		lock.Lock()
		time.Sleep(2 * time.Millisecond)
		lock.Unlock()
		fmt.Fprintln(w, "stock")
	})
}

// journal writes each request through to the disk.
func journal(mux *http.ServeMux) {
	file, err := os.CreateTemp(os.Getenv("JOURNAL"), "journal")
	if err != nil {
		log.Fatal(err)
	}
	pages := make([]byte, 1<<20)
	var written atomic.Int64
	mux.HandleFunc("/journal", func(w http.ResponseWriter, _ *http.Request) {
		// It begins again after 256 MiB.
		at := written.Add(1) % 256 * int64(len(pages))
		_, err := file.WriteAt(pages, at)
		if err == nil {
			err = file.Sync()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "entry")
	})
}

// prices asks another service, which takes its time.
func prices(mux *http.ServeMux) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	mux.HandleFunc("/prices", func(w http.ResponseWriter, r *http.Request) {
		if err := ask(r.Context(), client, os.Getenv("BACKEND")+"/slow"); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, "price")
	})
}

func ask(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %d", url, answer.StatusCode)
	}
	return nil
}

// backend is what others ask: slow, or with room for a few only.
func backend(mux *http.ServeMux) {
	mux.HandleFunc("/slow", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(20 * time.Millisecond)
		fmt.Fprintln(w, "slow")
	})
	places := make(chan struct{}, 4)
	mux.HandleFunc("/narrow", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case places <- struct{}{}:
			time.Sleep(10 * time.Millisecond)
			<-places
			fmt.Fprintln(w, "narrow")
		default:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		}
	})
}
