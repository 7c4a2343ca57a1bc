<?php

declare(strict_types=1);

/*
 * The variables of a run: defaults, knobs, and what is refused.
 */

namespace Prony\Swoole\Tests;

use Prony\Swoole\Server;
use Prony\Swoole\Settings;
use RuntimeException;

final class SettingsTest
{
    private const LISTEN = ['LISTEN' => '127.0.0.1:8080'];

    public function defaultsAreFourWorkersWithCoroutines(): void
    {
        $settings = Settings::fromEnvironment(self::LISTEN);
        same(['127.0.0.1', 8080, false], [$settings->host, $settings->port, $settings->isIpv6()]);
        same([25, 5, 8], array_map($settings->perWorker(...), ['database', 'cache', 'grpc']));
        $options = Server::options($settings);
        same([4, 0, true, 2], [$options['worker_num'], $options['task_worker_num'],
            $options['enable_coroutine'], $options['dispatch_mode']]);
        // While a worker is made nothing may wait; it turns the hooks on itself.
        same(0, $options['hook_flags']);
        $hooks = Server::hooks($settings);
        same([0, true], [$hooks & (SWOOLE_HOOK_CURL | SWOOLE_HOOK_FILE), $hooks !== 0]);
    }

    public function knobsReachTheOptions(): void
    {
        $tasks = Settings::fromEnvironment(['SWOOLE_TASK_WORKERS' => '1', 'SWOOLE_TASK_MAX_REQUEST' => '500',
            'SWOOLE_ORDERS' => 'task', 'SWOOLE_STATIC_CACHE' => '1024'] + self::LISTEN);
        same([true, 1024, 500], [$tasks->ordersToTasks, $tasks->staticCacheBytes,
            Server::options($tasks)['task_max_request']]);
        $knobs = ['SWOOLE_COROUTINE' => 'false', 'SWOOLE_WORKERS' => '16', 'SWOOLE_TASK_WORKERS' => '2'];
        $settings = Settings::fromEnvironment($knobs + ['LISTEN' => '[::1]:8080']);
        same(['::1', true], [$settings->host, $settings->isIpv6()]);
        $options = Server::options($settings);
        same([16, 2, false, 0, 3], [$options['worker_num'], $options['task_worker_num'],
            $options['enable_coroutine'], Server::hooks($settings), $options['dispatch_mode']]);
    }

    public function badValuesAreRefused(): void
    {
        $bad = [
            ['LISTEN' => ''], ['LISTEN' => '127.0.0.1:0'], ['SWOOLE_WORKERS' => '0'],
            ['SWOOLE_WORKERS' => 'x'], ['SWOOLE_TASK_WORKERS' => '-1'], ['SWOOLE_COROUTINE' => 'on'],
            ['SWOOLE_ORDERS' => 'task'], ['SWOOLE_ORDERS' => 'x'], ['SWOOLE_TASK_MAX_REQUEST' => '-1'],
            ['SWOOLE_STATIC_CACHE' => '1000000'], ['DB_MAX_OPEN' => '0'], ['DB_MAX_OPEN' => '3'],
        ];
        foreach ($bad as $values) {
            refuses(RuntimeException::class, fn () => Settings::fromEnvironment($values + self::LISTEN));
        }
    }
}
