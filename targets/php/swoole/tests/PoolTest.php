<?php

declare(strict_types=1);

/*
 * What becomes of a connection: given back, replaced, or never had.
 */

namespace Prony\Swoole\Tests;

use LogicException;
use Prony\Http\HttpError;
use Prony\Swoole\CoroutinePool;
use stdClass;

final class PoolTest
{
    public function aConnectionIsLentAndGivenBack(): void
    {
        [$connection, $swoole] = self::pool();
        $use = function (object $lent) use ($connection): string {
            same($connection, $lent);
            return 'answer';
        };
        same('answer', (new CoroutinePool($swoole, 'database'))->with($use));
        same([0.5, [$connection]], [$swoole->timeout, $swoole->returned]);
    }

    public function anAnswerOf404BreaksNoConnection(): void
    {
        [$connection, $swoole] = self::pool();
        $use = fn () => throw HttpError::notFound('no such user');
        refuses(HttpError::class, fn () => (new CoroutinePool($swoole, 'database'))->with($use), 404);
        same([$connection], $swoole->returned);
    }

    public function aFailureReplacesTheConnection(): void
    {
        foreach ([false, true] as $broken) {
            [, $swoole] = self::pool($broken);
            $use = fn () => throw new LogicException('gone away');
            refuses(LogicException::class, fn () => (new CoroutinePool($swoole, 'database'))->with($use));
            same([null], $swoole->returned);
        }
    }

    public function waitingEndsWith503(): void
    {
        $swoole = new FakePool(false);
        $use = fn () => throw new LogicException('there is no connection to use');
        refuses(HttpError::class, fn () => (new CoroutinePool($swoole, 'database'))->with($use), 503);
        same([], $swoole->returned);
    }

    /** @return array{stdClass, FakePool} */
    private static function pool(bool $broken = false): array
    {
        $connection = new stdClass();
        return [$connection, new FakePool($connection, $broken)];
    }
}
