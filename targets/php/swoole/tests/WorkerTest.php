<?php

declare(strict_types=1);

/*
 * A worker from Swoole's request to Swoole's response: routes, queries, headers, bodies, files and the log.
 */

namespace Prony\Swoole\Tests;

use Prony\Swoole\Settings;
use Prony\Swoole\Worker;
use Swoole\Atomic\Long;

final class WorkerTest
{
    private const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    public function routesAreAnswered(): void
    {
        same([200, '{"code":0,"msg":"ok","data":{}}'], self::ask('GET', '/ping'));
        same([200, '{"status":"ok"}'], self::ask('GET', '/health'));
        // This reading counts from its answer on, and the next one leaves it out.
        same([200, '{"worker_num":4,"request_count":9}'], self::ask('GET', '/debug/swoole'));
        $readings = new Long(4);
        same('{"worker_num":4,"request_count":5}', self::response('GET', '/debug/swoole', readings: $readings)->body);
        same(8, count(json_decode(self::ask('GET', '/json/1')[1], true)['data']));
        same(404, self::ask('GET', '/nothing')[0]);
        same(405, self::ask('GET', '/upload')[0]);
        // An encoded slash makes no segment: /file/..%2F..%2Fx is a name.
        same(404, self::ask('GET', '/file/..%2F..%2FREADME.md')[0]);
    }

    public function aQueryIsReadByPhpsRules(): void
    {
        // Refused for its value, so it was seen; the database is not asked.
        same(400, self::ask('GET', '/db/7?queries=21')[0]);
        same(400, self::ask('GET', '/db/7?queries[]=1')[0]);
        same(400, self::ask('GET', '/db/scan?name=')[0]);
        same(503, self::ask('GET', '/db/scan?name=user-000001')[0]);
    }

    public function aBodyIsReadWhole(): void
    {
        $answer = json_decode(self::ask('POST', '/upload', body: 'abc')[1], true)['data'];
        same(['bytes' => 3, 'sha256' => hash('sha256', 'abc')], $answer);
        same(0, json_decode(self::ask('POST', '/upload')[1], true)['data']['bytes']);
        same(413, self::ask('POST', '/upload', body: str_repeat('x', (16 << 20) + 1))[0]);
    }

    public function headersComeInAndGoOut(): void
    {
        same(401, self::ask('GET', '/auth', ['authorization' => 'Bearer x'])[0]);
        $token = self::token();
        $response = self::response('GET', '/middleware/3', ['authorization' => "Bearer $token",
            'traceparent' => [self::TRACE]]);
        same(200, $response->code);
        same(substr(self::TRACE, 0, 36), substr($response->sent['Traceparent'] ?? '', 0, 36));
        same('application/json', $response->sent['Content-Type']);
    }

    public function filesAreSentBySwoole(): void
    {
        $response = self::response('GET', '/file/1k');
        same([200, 'application/octet-stream', null], [$response->code, $response->sent['Content-Type'],
            $response->body]);
        same(1024, filesize((string) $response->path));
    }

    public function taskWorkersTakeTheLogWhereThereAreSome(): void
    {
        foreach (['0' => 0, '2' => 1] as $taskWorkers => $lines) {
            $server = new FakeServer();
            self::response('GET', '/middleware/1', server: $server, taskWorkers: (string) $taskWorkers);
            same($lines, count($server->tasks));
        }
        same(true, str_contains($server->tasks[0], 'GET /middleware/1 200 '));
    }

    public function aLineThatNoTaskWorkerTakesIsWrittenHere(): void
    {
        $file = tempnam(sys_get_temp_dir(), 'prony-swoole-test-');
        putenv("ACCESS_LOG=$file");
        try {
            $server = new FakeServer(takesTasks: false);
            self::response('GET', '/middleware/1', server: $server, taskWorkers: '2');
            same(1, preg_match('~ GET /middleware/1 200 \d+us\n\z~', (string) file_get_contents($file)));
        } finally {
            putenv('ACCESS_LOG');
            unlink($file);
        }
    }

    public function anOrderGoesToATaskWorkerWhereItIsToAndNowhereWithoutABackend(): void
    {
        $orders = ['SWOOLE_ORDERS' => 'task'];
        $server = new FakeServer();
        $answer = self::response('GET', '/order/7', server: $server, taskWorkers: '1', more: $orders);
        same('{"code":0,"msg":"ok","data":{"id":7,"order":"accepted"}}', $answer->body);
        same([7], $server->tasks);
        $busy = new FakeServer(takesTasks: false);
        same(503, self::response('GET', '/order/7', server: $busy, taskWorkers: '1', more: $orders)->code);
        same(400, self::ask('GET', '/order/0')[0]);
        same(503, self::ask('GET', '/order/7')[0]);
    }

    public function theStaticCacheKeepsWhatEachRequestLeaves(): void
    {
        $kept = new \ReflectionProperty(Worker::class, 'kept');
        self::ask('GET', '/ping');
        $before = count($kept->getValue());
        self::response('GET', '/ping', more: ['SWOOLE_STATIC_CACHE' => '100']);
        same([$before + 1, 100], [count($kept->getValue()), strlen($kept->getValue()[$before])]);
    }

    private static function token(): string
    {
        $part = fn (string $bytes): string => rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
        $signed = $part('{"alg":"HS256"}') . '.' . $part(json_encode(['sub' => 'me', 'exp' => time() + 60]));
        return $signed . '.' . $part(hash_hmac('sha256', $signed, 'prony-contract-secret', true));
    }

    /**
     * @param array<string, mixed> $headers
     * @return array{?int, ?string} status and body
     */
    private static function ask(
        string $method,
        string $target,
        array $headers = [],
        string|false $body = false,
    ): array {
        $response = self::response($method, $target, $headers, $body);
        return [$response->code, $response->body];
    }

    /**
     * @param array<string, mixed> $headers
     * @param array<string, string> $more variables
     */
    private static function response(
        string $method,
        string $target,
        array $headers = [],
        string|false $body = false,
        FakeServer $server = new FakeServer(),
        string $taskWorkers = '0',
        array $more = [],
        Long $readings = new Long(0),
    ): FakeResponse {
        $environment = ['LISTEN' => '127.0.0.1:8080', 'SWOOLE_COROUTINE' => 'false',
            'SWOOLE_TASK_WORKERS' => $taskWorkers, ...$more];
        $response = new FakeResponse();
        (new Worker($server, Settings::fromEnvironment($environment), $readings))
            ->handle(new FakeRequest($method, $target, $headers, $body), $response);
        return $response;
    }
}
