<?php

declare(strict_types=1);

/*
 * A server whose task workers take lines, or take none.
 */

namespace Prony\Swoole\Tests;

use Swoole\Http\Server;

final class FakeServer extends Server
{
    /** @var list<string> */
    public array $tasks = [];

    public function __construct(private readonly bool $takesTasks = true)
    {
    }

    public function task($data, $taskWorkerIndex = -1, $finishCallback = null): int|false
    {
        $this->tasks[] = $data;
        return $this->takesTasks ? count($this->tasks) : false;
    }

    public function stats(): array
    {
        return ['worker_num' => 4, 'request_count' => 9];
    }
}
