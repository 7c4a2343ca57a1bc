<?php

declare(strict_types=1);

/*
 * The configuration files of one run, in its own folder: nginx.conf, php-fpm.conf, php.ini.
 *
 * Invariant: nothing of the system's configuration is read.
 */

namespace Prony\Fpm;

use RuntimeException;

final class Files
{
    /** In this order: redis needs igbinary, pdo_mysql needs mysqlnd and pdo. */
    private const EXTENSIONS = ['mysqlnd', 'pdo', 'pdo_mysql', 'igbinary', 'redis', 'curl'];

    public function __construct(private readonly Settings $settings, private readonly string $folder)
    {
    }

    public function write(): void
    {
        $files = ['nginx.conf' => $this->nginx(), 'php-fpm.conf' => $this->fpm(), 'php.ini' => $this->php()];
        foreach ($files as $name => $text) {
            if (file_put_contents("$this->folder/$name", $text) !== strlen($text)) {
                throw new RuntimeException("cannot write $this->folder/$name");
            }
        }
    }

    private function nginx(): string
    {
        $settings = $this->settings;
        $user = posix_geteuid() === 0 ? 'user root;' : '';
        $accessLog = $settings->accessLog ? "$this->folder/access.log combined buffer=64k flush=1s" : 'off';
        $fastcgi = $this->fastcgi();
        $grpc = $settings->backend === null ? '' : $this->grpc($settings->backend);
        return <<<CONF
            daemon off;
            $user
            pid $this->folder/nginx.pid;
            error_log stderr error;
            worker_processes $settings->nginxWorkers;
            worker_shutdown_timeout 4s;
            worker_rlimit_nofile 16384;
            events {
                worker_connections 8192;
            }
            http {
                access_log $accessLog;
                server_tokens off;
                tcp_nodelay on;
                keepalive_timeout {$settings->keepaliveTimeout}s;
                # nginx's own default of 1000 would close connections in the middle of a measurement.
                keepalive_requests $settings->keepaliveRequests;
                client_body_temp_path $this->folder/body;
                proxy_temp_path $this->folder/proxy;
                fastcgi_temp_path $this->folder/fastcgi;
                uwsgi_temp_path $this->folder/uwsgi;
                scgi_temp_path $this->folder/scgi;
                client_max_body_size 16m;
                client_body_buffer_size 128k;
            $fastcgi
            $grpc
            }

            CONF;
    }

    private function fastcgi(): string
    {
        $listen = $this->settings->listen;
        $public = dirname(__DIR__) . '/public';
        $http2 = $this->settings->http2 ? 'http2 on;' : '';
        return <<<CONF
                server {
                    listen $listen backlog=4096;
                    $http2
                    error_page 413 @too_long;
                    fastcgi_buffer_size 16k;
                    fastcgi_buffers 32 16k;
                    fastcgi_max_temp_file_size 0;
                    location / {
            {$this->pass('/index.php', "$public/index.php")}
                    }
                    location = /debug/nginx {
            {$this->onlyFromHere()}
                        stub_status;
                    }
                    location = /debug/fpm {
            {$this->onlyFromHere()}
            {$this->pass('/debug/fpm', '/debug/fpm', 'status.sock')}
                    }
                    location = /debug/requests {
            {$this->onlyFromHere()}
            {$this->pass('/index.php', "$public/index.php")}
                    }
                    location = /debug/php {
            {$this->onlyFromHere()}
            {$this->pass('/index.php', "$public/index.php")}
                    }
                    location = /debug/opcache {
            {$this->onlyFromHere()}
            {$this->pass('/index.php', "$public/index.php")}
                    }
                    location @too_long {
                        default_type application/json;
                        return 413 '{"code":413,"msg":"the body is longer than 16 MiB","data":{}}';
                    }
                }
            CONF;
    }

    /** Parameters are inherited only where a location has none of its own, so each location has them all. */
    private function pass(string $name, string $file, string $socket = 'fpm.sock'): string
    {
        return <<<CONF
                        fastcgi_param SCRIPT_NAME $name;
                        fastcgi_param SCRIPT_FILENAME $file;
                        fastcgi_param REQUEST_METHOD \$request_method;
                        fastcgi_param REQUEST_URI \$request_uri;
                        fastcgi_param QUERY_STRING \$query_string;
                        fastcgi_param CONTENT_TYPE \$content_type;
                        fastcgi_param CONTENT_LENGTH \$content_length;
                        fastcgi_param SERVER_PROTOCOL \$server_protocol;
                        fastcgi_param REMOTE_ADDR \$remote_addr;
                        fastcgi_pass unix:$this->folder/$socket;
            CONF;
    }

    /** Loopback, and the private addresses over which prony reaches a target in a network of its own. */
    private function onlyFromHere(): string
    {
        return <<<CONF
                        allow 127.0.0.0/8;
                        allow ::1;
                        allow 10.0.0.0/8;
                        allow 169.254.0.0/16;
                        deny all;
            CONF;
    }

    /** PHP ends its connections with each request; nginx keeps those to the backend, for all children. */
    private function grpc(Backend $backend): string
    {
        return <<<CONF
                upstream backend {
                    server $backend->host:$backend->port;
                    keepalive 32;
                    keepalive_requests 1000000000;
                }
                server {
                    listen unix:$this->folder/grpc.sock http2 backlog=4096;
                    location / {
                        grpc_pass grpcs://backend;
                        grpc_ssl_trusted_certificate $backend->authorityFile;
                        grpc_ssl_verify on;
                        grpc_ssl_verify_depth 2;
                        grpc_ssl_name {$backend->certificateName()};
                        grpc_ssl_server_name on;
                        grpc_connect_timeout 1s;
                        grpc_read_timeout 5s;
                    }
                }
            CONF;
    }

    private function fpm(): string
    {
        $user = posix_geteuid() === 0 ? "user = root\ngroup = root" : '';
        $manager = $this->manager();
        return <<<CONF
            [global]
            pid = $this->folder/fpm.pid
            error_log = $this->folder/fpm.log
            log_level = warning
            daemonize = no
            ; Children have this long to end their requests at a stop or a reload.
            process_control_timeout = 4s
            [www]
            $user
            listen = $this->folder/fpm.sock
            listen.backlog = 4096
            $manager
            pm.status_path = /debug/fpm
            ; A process of its own, so that the page answers while all children are busy.
            pm.status_listen = $this->folder/status.sock
            clear_env = no

            CONF;
    }

    private function manager(): string
    {
        $children = $this->settings->children;
        $common = "pm = {$this->settings->manager}\npm.max_children = $children\n";
        return $common . match ($this->settings->manager) {
            'static' => '',
            'ondemand' => 'pm.process_idle_timeout = 10s',
            // FPM's own advice: start between the two spare numbers.
            'dynamic' => sprintf(
                "pm.min_spare_servers = %d\npm.max_spare_servers = %d\npm.start_servers = %d",
                max(1, intdiv($children, 4)),
                max(1, intdiv($children, 2)),
                max(1, intdiv($children, 4)),
            ),
        };
    }

    private function php(): string
    {
        $on = fn (bool $value): string => $value ? '1' : '0';
        $jitBuffer = $this->settings->jit === 'off' ? '0' : $this->settings->jitBuffer;
        $names = [...self::EXTENSIONS, ...($this->settings->excimer ? ['excimer'] : [])];
        $extensions = 'extension = ' . implode("\nextension = ", $names);
        return <<<INI
            zend_extension = opcache
            $extensions
            ; As php.ini-production.
            display_errors = Off
            log_errors = On
            expose_php = Off
            variables_order = "GPCS"
            memory_limit = 128M
            zend.assertions = -1
            date.timezone = UTC
            default_charset = "UTF-8"
            ; The application reads bodies in pieces and has its own limit.
            enable_post_data_reading = Off
            realpath_cache_ttl = 600
            opcache.enable = {$on($this->settings->opcache)}
            opcache.memory_consumption = 128
            opcache.interned_strings_buffer = 16
            opcache.max_accelerated_files = 10000
            opcache.validate_timestamps = {$on($this->settings->validateTimestamps)}
            opcache.revalidate_freq = 0
            opcache.jit = {$this->settings->jit}
            opcache.jit_buffer_size = $jitBuffer

            INI;
    }
}
