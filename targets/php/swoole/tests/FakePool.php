<?php

declare(strict_types=1);

/*
 * Swoole's pool with one connection at hand: `null` put back asks for a new one, and that may fail.
 */

namespace Prony\Swoole\Tests;

use RuntimeException;
use stdClass;
use Swoole\ConnectionPool;

final class FakePool extends ConnectionPool
{
    public ?float $timeout = null;
    /** @var list<mixed> what was put back */
    public array $returned = [];

    public function __construct(
        private readonly stdClass|false $connection,
        private readonly bool $broken = false,
    ) {
    }

    public function get($timeout = -1)
    {
        $this->timeout = $timeout;
        return $this->connection;
    }

    public function put($connection): void
    {
        $this->returned[] = $connection;
        if ($connection === null && $this->broken) {
            throw new RuntimeException('the server is gone');
        }
    }
}
