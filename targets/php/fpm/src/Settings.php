<?php

declare(strict_types=1);

/*
 * What the environment asks of nginx, FPM and PHP.
 *
 * Invariants: every value is checked before it is written into a configuration file, so that none can add a
 * directive; an error names the variable, its value and what is allowed.
 */

namespace Prony\Fpm;

use Prony\Variables;
use RuntimeException;

final class Settings
{
    public const CUTS = ['entry', 'parsed-request', 'autoload', 'project-config', 'base-config', 'routes',
        'complete'];

    private function __construct(
        public readonly string $listen,
        /** Of PHP, such as 8.2; empty: whichever there is. */
        public readonly string $version,
        public readonly string $nginxWorkers,
        public readonly bool $accessLog,
        public readonly bool $http2,
        public readonly int $keepaliveTimeout,
        public readonly int $keepaliveRequests,
        public readonly string $manager,
        public readonly int $children,
        public readonly bool $opcache,
        public readonly bool $validateTimestamps,
        public readonly string $jit,
        public readonly string $jitBuffer,
        public readonly bool $excimer,
        public readonly bool $requestTimes,
        public readonly ?Backend $backend,
    ) {
    }

    /** @param array<string, string> $environment */
    public static function fromEnvironment(array $environment): self
    {
        $read = new Variables($environment);
        $read->choice('CONFIG', ['parsed', 'cached'], 'parsed');
        $read->choice('CUT', self::CUTS, 'complete');
        $read->bool('DB_PERSISTENT', true);
        $read->bool('CACHE_PERSISTENT', true);
        $opcache = $read->bool('OPCACHE', true);
        $jit = $read->choice('JIT', ['off', 'function', 'tracing'], 'off');
        if ($jit !== 'off' && !$opcache) {
            throw new RuntimeException("JIT=$jit needs the opcache: set OPCACHE=true or JIT=off");
        }
        $workers = '/\A(auto|[1-9][0-9]{0,2})\z/';
        $seconds = '/\A(0|[1-9][0-9]{0,3}|[1-7][0-9]{4}|8[0-5][0-9]{3}|86[0-3][0-9]{2}|86400)\z/';
        $count = '/\A([1-9][0-9]{0,8}|1000000000)\z/';
        $size = '/\A[1-9][0-9]{0,3}(M|MiB)\z/';
        return new self(
            listen: $read->listen('LISTEN'),
            version: $read->matching('FPM_VERSION', '/\A([5-9]\.[0-9])?\z/', '', 'a version such as 8.2'),
            nginxWorkers: $read->matching('NGINX_WORKERS', $workers, 'auto', 'auto or 1 to 999'),
            accessLog: $read->bool('NGINX_ACCESS_LOG', false),
            http2: $read->bool('NGINX_HTTP2', false),
            keepaliveTimeout: (int) $read->matching('NGINX_KEEPALIVE_TIMEOUT', $seconds, '65', '0 to 86400'),
            keepaliveRequests: (int) $read->matching('NGINX_KEEPALIVE_REQUESTS', $count, '1000000000', '1 to 1000000000'),
            manager: $read->choice('FPM_PM', ['static', 'dynamic', 'ondemand'], 'static'),
            children: (int) $read->matching('FPM_CHILDREN', '/\A[1-9][0-9]{0,3}\z/', '16', '1 to 9999'),
            opcache: $opcache,
            validateTimestamps: $read->bool('OPCACHE_VALIDATE', false),
            jit: $jit,
            jitBuffer: self::megabytes($read->matching('JIT_BUFFER', $size, '64MiB', '1MiB to 9999MiB')),
            excimer: $read->bool('EXCIMER', false),
            requestTimes: $read->bool('REQUEST_TIMES', false),
            backend: Backend::fromEnvironment($read),
        );
    }

    private static function megabytes(string $size): string
    {
        return (int) $size . 'M';
    }
}
