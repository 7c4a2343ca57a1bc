<?php

declare(strict_types=1);

/*
 * The application in one worker: made once when the worker starts, then asked by each request.
 *
 * Invariant: nothing that waits happens while it is made, so that no request comes before it is whole.
 */

namespace Prony\Swoole;

use Closure;
use Prony\App;
use Prony\Config;
use Prony\Http\HttpError;
use Prony\Http\Response;
use Prony\Service\Pool;
use Prony\Service\Services;
use Prony\Service\Single;
use Swoole\Atomic\Long;
use Swoole\ConnectionPool;
use Swoole\Http\Request as SwooleRequest;
use Swoole\Http\Response as SwooleResponse;
use Swoole\Http\Server as HttpServer;

final class Worker
{
    /** @var list<string> what the knob static-cache leaves behind: a cache that nothing ever empties */
    private static array $kept = [];

    private readonly App $app;

    /** @param Long $readings of /debug/swoole, by all workers: those are prony's own */
    public function __construct(
        private readonly HttpServer $server,
        private readonly Settings $settings,
        private readonly Long $readings,
    ) {
        $config = Config::parsed();
        array_map($config->load(...), Config::GROUPS);
        $log = $settings->taskWorkers > 0 ? $this->log(...) : null;
        $order = $settings->ordersToTasks ? $this->order(...) : null;
        $this->app = App::create($config, new Services($config, $this->pool(...), log: $log, order: $order));
    }

    public function handle(SwooleRequest $request, SwooleResponse $response): void
    {
        $asked = Exchange::request($request);
        $answer = $asked->path === '/debug/swoole'
            ? Response::json($this->counted())
            : $this->app->handle($asked);
        if ($this->settings->staticCacheBytes > 0) {
            self::$kept[] = str_repeat('x', $this->settings->staticCacheBytes);
        }
        Exchange::send($answer, $response);
    }

    /** @return array<string, mixed> the server's counters; those of requests without the earlier readings of this kind */
    private function counted(): array
    {
        $stats = $this->server->stats();
        // The request that is being answered counts from its answer on.
        $own = $this->readings->add(1) - 1;
        if (isset($stats['request_count'])) {
            $stats['request_count'] = max(0, $stats['request_count'] - $own);
        }
        return $stats;
    }

    /** @param Closure(): object $connect */
    private function pool(Closure $connect, string $kind): Pool
    {
        if (!$this->settings->coroutine) {
            return new Single($connect);
        }
        return new CoroutinePool(new ConnectionPool($connect, $this->settings->perWorker($kind)), $kind);
    }

    /** @throws HttpError 503 where no task worker takes it */
    private function order(int $id): void
    {
        if ($this->server->task($id) === false) {
            throw HttpError::unavailable('no task worker takes the order');
        }
    }

    /** A task worker writes the line; where none takes it, this worker does. */
    private function log(string $line): void
    {
        if ($this->server->task($line) === false) {
            Services::append($line);
        }
    }
}
