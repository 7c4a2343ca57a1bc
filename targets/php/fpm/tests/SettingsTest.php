<?php

declare(strict_types=1);

/*
 * The variables of a run: defaults, and values that could add a directive are refused.
 */

namespace Prony\Fpm\Tests;

use Prony\Fpm\Files;
use Prony\Fpm\Launcher;
use Prony\Fpm\Settings;
use RuntimeException;

final class SettingsTest
{
    private const LISTEN = ['LISTEN' => '127.0.0.1:8080'];

    public function badValuesAreRefused(): void
    {
        $bad = [
            ['LISTEN' => ''], ['LISTEN' => '127.0.0.1:0'], ['LISTEN' => "127.0.0.1:80;\nevil on"],
            ['NGINX_WORKERS' => '1; evil on'], ['NGINX_KEEPALIVE_TIMEOUT' => '86401'],
            ['NGINX_KEEPALIVE_REQUESTS' => '0'], ['CACHE_PERSISTENT' => 'x'], ['FPM_CHILDREN' => '0'], ['FPM_PM' => 'other'],
            ['OPCACHE' => '1'], ['JIT_BUFFER' => "64MiB\nevil"], ['JIT' => 'tracing', 'OPCACHE' => 'false'],
            ['FPM_VERSION' => '8.2/../x'], ['NGINX_HTTP2' => 'x'], ['CUT' => 'x'], ['REQUEST_TIMES' => 'x'], ['CONFIG' => 'x'],
            ['GRPC_HOST' => 'h', 'GRPC_PORT' => '1', 'GRPC_CA_FILE' => '/nonexistent'],
            ['GRPC_HOST' => 'h;', 'GRPC_PORT' => '1', 'GRPC_CA_FILE' => __FILE__],
        ];
        foreach ($bad as $values) {
            refuses(RuntimeException::class, fn () => Settings::fromEnvironment($values + self::LISTEN));
        }
    }

    /** No other version is taken in place of the one that was asked for, and the error says how to get it. */
    public function anAbsentVersionIsAnError(): void
    {
        $launcher = new Launcher(Settings::fromEnvironment(['FPM_VERSION' => '9.9'] + self::LISTEN));
        try {
            $launcher->run();
        } catch (RuntimeException $error) {
            same('php-fpm9.9 is not installed: apt-get install php9.9-fpm php9.9-mysql php-redis php9.9-curl', $error->getMessage());
            return;
        }
        throw new RuntimeException('started another version');
    }

    public function anNginxThatTakesOneVersionOfHttpIsAnError(): void
    {
        foreach (['nginx version: nginx/1.25.1', "nginx version: nginx/1.28.0 (Ubuntu)\n"] as $said) {
            Launcher::demandHttp2($said);
        }
        foreach (['nginx version: nginx/1.22.1', 'nginx version: nginx/1.25.0', 'no such program', ''] as $said) {
            refuses(RuntimeException::class, fn () => Launcher::demandHttp2($said));
        }
    }

    public function knobsReachTheFiles(): void
    {
        $folder = Folder::make();
        try {
            $knobs = ['FPM_CHILDREN' => '7', 'FPM_PM' => 'dynamic', 'JIT' => 'tracing',
                'JIT_BUFFER' => '32MiB', 'OPCACHE_VALIDATE' => 'true', 'NGINX_WORKERS' => '3',
                'NGINX_ACCESS_LOG' => 'true', 'EXCIMER' => 'true', 'NGINX_HTTP2' => 'true',
                'NGINX_KEEPALIVE_TIMEOUT' => '5', 'NGINX_KEEPALIVE_REQUESTS' => '100'];
            (new Files(Settings::fromEnvironment($knobs + self::LISTEN), $folder))->write();
            $files = implode('', array_map(file_get_contents(...), glob("$folder/*")));
            foreach (['listen 127.0.0.1:8080 ', 'pm.max_children = 7', 'pm = dynamic',
                'opcache.jit = tracing', 'opcache.jit_buffer_size = 32M', 'opcache.validate_timestamps = 1',
                'worker_processes 3;', 'keepalive_timeout 5s;', 'keepalive_requests 100;', "access_log $folder/access.log",
                'extension = excimer', 'http2 on;'] as $line) {
                same([$line, true], [$line, str_contains($files, $line)]);
            }
        } finally {
            Folder::remove($folder);
        }
    }

    public function statusPagesAreForThisHostOnlyAndNeedNoChild(): void
    {
        $folder = Folder::make();
        try {
            (new Files(Settings::fromEnvironment(self::LISTEN), $folder))->write();
            same(false, str_contains((string) file_get_contents("$folder/php.ini"), 'excimer'));
            $nginx = (string) file_get_contents("$folder/nginx.conf");
            foreach (['nginx', 'fpm', 'opcache'] as $page) {
                $location = strstr($nginx, "location = /debug/$page {");
                same([$page, true], [$page, $location !== false]);
                $location = (string) strstr($location, "\n        }", true);
                same([$page, true], [$page, str_contains($location, 'allow 127.0.0.0/8;')]);
                same([$page, true], [$page, str_contains($location, 'deny all;')]);
            }
            same(true, str_contains($nginx, "fastcgi_pass unix:$folder/status.sock;"));
            $fpm = (string) file_get_contents("$folder/php-fpm.conf");
            same(true, str_contains($fpm, "pm.status_listen = $folder/status.sock"));
        } finally {
            Folder::remove($folder);
        }
    }
}
