<?php

declare(strict_types=1);

/*
 * Swoole's HTTP server: a master that holds the connections, workers that answer, task workers that log and
 * follow orders.
 *
 * Invariants: this process loads no class of the application, so that a reload, which only starts workers
 * anew, takes in its code; connections belong to the master and outlive a reload.
 * Absent on purpose: HTTP/2, TLS and compression, which the contract does not ask for; and Swoole's static
 * files, since reading files is the application's part.
 */

namespace Prony\Swoole;

use RuntimeException;
use Swoole\Atomic\Long;
use Swoole\Http\Request;
use Swoole\Http\Response;
use Swoole\Http\Server as HttpServer;
use Swoole\Runtime;

final class Server
{
    /** 16 MiB, which the application holds bodies to, and as much again as headers may need. */
    private const REQUEST_BYTES_MAX = (16 << 20) + (64 << 10);
    /** Seconds in which a worker must end at a stop or a reload. */
    private const STOP_SECONDS = 4;

    /** Of this process, where it is a worker. */
    private ?Worker $worker = null;
    /** Of this process, where it is a task worker. */
    private ?Tasks $tasks = null;

    public function __construct(private readonly Settings $settings)
    {
    }

    /** @throws RuntimeException where the server cannot start */
    public function run(): void
    {
        $socket = $this->settings->isIpv6() ? SWOOLE_SOCK_TCP6 : SWOOLE_SOCK_TCP;
        // Not SWOOLE_BASE, the default since Swoole 5: there a reload closes all connections.
        $server = new HttpServer($this->settings->host, $this->settings->port, SWOOLE_PROCESS, $socket);
        // In memory that all workers share.
        $readings = new Long(0);
        $server->set(self::options($this->settings));
        $server->on('WorkerStart', function (HttpServer $server) use ($readings): void {
            if ($server->taskworker) {
                $this->tasks = new Tasks();
            } else {
                $this->worker = new Worker($server, $this->settings, $readings);
                // Not before: a call that waits would let requests in that find no worker.
                Runtime::enableCoroutine(self::hooks($this->settings));
            }
        });
        $server->on('Request', function (Request $request, Response $response): void {
            $this->worker->handle($request, $response);
        });
        if ($this->settings->taskWorkers > 0) {
            $server->on('Task', function (HttpServer $server, int $id, int $from, mixed $task): void {
                $this->tasks->do($task);
            });
            // Swoole demands it; nobody waits for a task.
            $server->on('Finish', fn () => null);
        }
        if (!$server->start()) {
            throw new RuntimeException('Swoole did not start; its messages stand above');
        }
    }

    /** @return array<string, mixed> as Swoole\Server::set takes them */
    public static function options(Settings $settings): array
    {
        return [
            'worker_num' => $settings->workers,
            'task_worker_num' => $settings->taskWorkers,
            'task_max_request' => $settings->taskMaxRequest,
            'enable_coroutine' => $settings->coroutine,
            'hook_flags' => 0,
            // 3, to a worker that is free, is Swoole's advice for workers that block.
            'dispatch_mode' => $settings->coroutine ? 2 : 3,
            'max_wait_time' => self::STOP_SECONDS,
            'reload_async' => true,
            'backlog' => 4096,
            'open_tcp_nodelay' => true,
            'package_max_length' => self::REQUEST_BYTES_MAX,
            'http_parse_cookie' => false,
            'http_parse_post' => false,
            'http_parse_files' => false,
            'http_compression' => false,
            'log_level' => SWOOLE_LOG_WARNING,
        ];
    }

    /**
     * All calls that wait, but two kinds.
     *
     * CURL is the curl written in PHP, which knows no HTTP/2; the native one is hooked where Swoole was built
     * with it. FILE would hand each call on local files to a thread, which costs more than the call.
     */
    public static function hooks(Settings $settings): int
    {
        return !$settings->coroutine ? 0 : SWOOLE_HOOK_ALL & ~SWOOLE_HOOK_CURL & ~SWOOLE_HOOK_FILE;
    }
}
