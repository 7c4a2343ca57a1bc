#!/bin/sh
# nginx and PHP-FPM in the foreground, in a folder of their own, as a container's entry point would start them.
set -eu
shop=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'kill $fpm $web 2>/dev/null; wait; rm -rf "$work"; exit 0' TERM INT

user=''
web_user=''
root=''
if [ "$(id -u)" = 0 ]; then
    user='user = root
group = root'
    web_user='user root;'
    root='-R'
fi
cat >"$work/fpm.conf" <<CONF
[global]
daemonize = no
error_log = /dev/stderr
[shop]
listen = $work/fpm.sock
$user
pm = static
pm.max_children = ${CHILDREN:-16}
pm.status_path = /status
clear_env = no
CONF
cat >"$work/nginx.conf" <<CONF
daemon off;
$web_user
worker_processes 1;
pid $work/nginx.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path $work/body; proxy_temp_path $work/proxy; fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi; scgi_temp_path $work/scgi;
    server {
        listen $LISTEN;
        location / {
            fastcgi_pass unix:$work/fpm.sock;
            fastcgi_param SCRIPT_FILENAME $shop/shop.php;
            fastcgi_param SCRIPT_NAME \$fastcgi_script_name;
            fastcgi_param REQUEST_METHOD \$request_method;
            fastcgi_param REQUEST_URI \$request_uri;
            fastcgi_param QUERY_STRING \$query_string;
        }
    }
}
CONF
php-fpm8.2 $root -y "$work/fpm.conf" &
fpm=$!
nginx -p "$work" -c "$work/nginx.conf" &
web=$!
wait $fpm $web
