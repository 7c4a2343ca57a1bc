<?php

declare(strict_types=1);

/*
 * What the environment asks of Swoole and of the pools.
 *
 * Invariant: every value is checked; an error names the variable, its value and what is allowed.
 */

namespace Prony\Swoole;

use Prony\Variables;
use RuntimeException;

final class Settings
{
    /** Connections to Redis and to the gRPC backend, of all workers together. */
    private const CACHE_MAX_OPEN = 20;
    private const GRPC_MAX_OPEN = 32;
    private const BACKEND_MAX_OPEN = 32;

    private function __construct(
        public readonly string $host,
        public readonly int $port,
        public readonly bool $coroutine,
        public readonly int $workers,
        public readonly int $taskWorkers,
        public readonly int $taskMaxRequest,
        public readonly bool $ordersToTasks,
        public readonly int $staticCacheBytes,
        private readonly int $databaseMaxOpen,
    ) {
    }

    /** @param array<string, string> $environment */
    public static function fromEnvironment(array $environment): self
    {
        $read = new Variables($environment);
        $listen = $read->listen('LISTEN');
        $colon = (int) strrpos($listen, ':');
        $fromOne = '/\A[1-9][0-9]{0,2}\z/';
        $fromZero = '/\A(0|[1-9][0-9]{0,2})\z/';
        $upToMillion = '/\A(0|[1-9][0-9]{0,5})\z/';
        $settings = new self(
            host: trim(substr($listen, 0, $colon), '[]'),
            port: (int) substr($listen, $colon + 1),
            coroutine: $read->bool('SWOOLE_COROUTINE', true),
            workers: (int) $read->matching('SWOOLE_WORKERS', $fromOne, '4', '1 to 999'),
            taskWorkers: (int) $read->matching('SWOOLE_TASK_WORKERS', $fromZero, '0', '0 to 999'),
            taskMaxRequest: (int) $read->matching('SWOOLE_TASK_MAX_REQUEST', $upToMillion, '0', '0 to 999999'),
            ordersToTasks: $read->matching('SWOOLE_ORDERS', '/\A(request|task)\z/', 'request', 'request, task') === 'task',
            staticCacheBytes: (int) $read->matching('SWOOLE_STATIC_CACHE', $upToMillion, '0', '0 to 999999'),
            databaseMaxOpen: (int) $read->matching('DB_MAX_OPEN', $fromOne, '100', '1 to 999'),
        );
        if ($settings->ordersToTasks && $settings->taskWorkers === 0) {
            throw new RuntimeException('SWOOLE_ORDERS=task needs task workers: set SWOOLE_TASK_WORKERS');
        }
        if ($settings->databaseMaxOpen < $settings->workers) {
            throw new RuntimeException("DB_MAX_OPEN=$settings->databaseMaxOpen is less than "
                . "SWOOLE_WORKERS=$settings->workers, and each worker needs a connection: raise it");
        }
        return $settings;
    }

    public function isIpv6(): bool
    {
        return str_contains($this->host, ':');
    }

    /** Connections of that kind that one worker may hold, at least one. */
    public function perWorker(string $kind): int
    {
        $all = match ($kind) {
            'database' => $this->databaseMaxOpen,
            'cache' => self::CACHE_MAX_OPEN,
            'grpc' => self::GRPC_MAX_OPEN,
            'backend' => self::BACKEND_MAX_OPEN,
        };
        return max(1, intdiv($all, $this->workers));
    }
}
