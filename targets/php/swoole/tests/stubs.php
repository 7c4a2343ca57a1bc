<?php

declare(strict_types=1);

/*
 * The classes and constants of Swoole that this target uses, for a PHP without the extension. Tests extend
 * them.
 *
 * Signatures are those of Swoole 6; what is not here is not used, so that a call of anything else fails. A
 * server starts at once and only says which events it was given.
 */

namespace {
    // Of the hooks only that each is a bit of its own matters.
    foreach ([
        'SWOOLE_SOCK_TCP' => 1,
        'SWOOLE_SOCK_TCP6' => 3,
        'SWOOLE_PROCESS' => 2,
        'SWOOLE_LOG_WARNING' => 4,
        'SWOOLE_HOOK_ALL' => 0x7fffffff,
        'SWOOLE_HOOK_FILE' => 1 << 8,
        'SWOOLE_HOOK_CURL' => 1 << 28,
    ] as $name => $value) {
        define($name, $value);
    }
}

namespace Swoole {
    class ConnectionPool
    {
        public function get(float $timeout = -1)
        {
        }

        public function put(mixed $connection): void
        {
        }
    }
}

namespace Swoole\Atomic {
    class Long
    {
        public function __construct(private int $value = 0)
        {
        }

        public function add(int $add_value = 1): int
        {
            return $this->value += $add_value;
        }
    }
}

namespace Swoole\Http {
    class Request
    {
        public $server;
        public $header;

        public function getContent(): string|false
        {
        }
    }

    class Response
    {
        public function status(int $http_code, string $reason = ''): bool
        {
        }

        public function header(string $key, string|array $value, bool $format = true): bool
        {
        }

        public function end(?string $content = null): bool
        {
        }

        public function sendfile(string $filename, int $offset = 0, int $length = 0): bool
        {
        }
    }

    class Server
    {
        public $taskworker = false;

        public function __construct(string $host, int $port, int $mode, int $sock_type)
        {
        }

        public function set(array $settings): bool
        {
            return true;
        }

        public function on(string $event_name, callable $callback): bool
        {
            echo "on $event_name\n";
            return true;
        }

        public function start(): bool
        {
            return true;
        }

        public function task(
            mixed $data,
            int $taskWorkerIndex = -1,
            ?callable $finishCallback = null,
        ): int|false {
        }

        public function stats(): array
        {
        }
    }
}
