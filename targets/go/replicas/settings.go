// The knobs, and nginx's configuration that follows from them.
package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	instancesMax = 4
	weightMax    = 100
)

// How the balancer chooses, by the word that nginx has for it.
var methods = map[string]string{"round-robin": "", "least-conn": "least_conn;", "ip-hash": "ip_hash;"}

type settings struct {
	instances   int
	balance     string
	firstWeight int
}

func readSettings(lookup func(string) string) (settings, error) {
	chosen := settings{instances: 2, balance: "round-robin", firstWeight: 1}
	for _, number := range []struct {
		name string
		most int
		into *int
	}{{"INSTANCES", instancesMax, &chosen.instances}, {"FIRST_WEIGHT", weightMax, &chosen.firstWeight}} {
		text := lookup(number.name)
		if text == "" {
			continue
		}
		value, err := strconv.Atoi(text)
		if err != nil || value < 1 || value > number.most {
			return settings{}, fmt.Errorf("%s is %q: set it to a whole number from 1 to %d", number.name, text, number.most)
		}
		*number.into = value
	}
	if text := lookup("BALANCE"); text != "" {
		if _, ok := methods[text]; !ok {
			names := []string{}
			for name := range methods {
				names = append(names, name)
			}
			slices.Sort(names)
			return settings{}, fmt.Errorf("BALANCE is %q: set it to one of %s", text, strings.Join(names, ", "))
		}
		chosen.balance = text
	}
	return chosen, nil
}

// configuration is nginx's: listen is the target's address, status that of the
// process that knows all replicas.
func (s settings) configuration(listen, folder, status string, replicas []string, root bool) string {
	user := ""
	if root {
		user = "user root;"
	}
	servers := ""
	for k, replica := range replicas {
		weight := 1
		if k == 0 {
			weight = s.firstWeight
		}
		servers += fmt.Sprintf("        server %s weight=%d max_fails=0;\n", replica, weight)
	}
	return fmt.Sprintf(`daemon off;
%s
pid %s/nginx.pid;
error_log stderr error;
worker_processes 1;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path %s/body;
    proxy_temp_path %s/proxy;
    fastcgi_temp_path %s/fastcgi;
    uwsgi_temp_path %s/uwsgi;
    scgi_temp_path %s/scgi;
    upstream replicas {
        %s
%s        keepalive 256;
        keepalive_requests 1000000000;
    }
    server {
        listen %s backlog=4096;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
        location / { proxy_pass http://replicas; }
        location /debug/ { proxy_pass http://%s; }
    }
}
`, user, folder, folder, folder, folder, folder, folder, methods[s.balance], servers, listen, status)
}
