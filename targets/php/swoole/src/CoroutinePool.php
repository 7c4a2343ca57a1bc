<?php

declare(strict_types=1);

/*
 * Swoole's pool of connections, for the coroutines of one worker.
 *
 * Invariants: a connection is lent to one coroutine at a time; one during which something else than an
 * HttpError was thrown is replaced; who gets none within 500 ms is answered 503.
 * Absent on purpose: an idle limit and a lifetime, which Swoole's pool does not have.
 */

namespace Prony\Swoole;

use Closure;
use Prony\Http\HttpError;
use Prony\Service\Pool;
use Swoole\ConnectionPool;
use Throwable;

/** @implements Pool<object> */
final class CoroutinePool implements Pool
{
    private const ACQUIRE_SECONDS = 0.5;

    public function __construct(private readonly ConnectionPool $pool, private readonly string $kind)
    {
    }

    public function with(Closure $use): mixed
    {
        $connection = $this->pool->get(self::ACQUIRE_SECONDS);
        if ($connection === false) {
            throw HttpError::unavailable("no connection to the $this->kind became free within 500 ms");
        }
        try {
            $answer = $use($connection);
        } catch (HttpError $error) {
            // An answer, such as 404, from a connection that works.
            $this->pool->put($connection);
            throw $error;
        } catch (Throwable $error) {
            $this->replace();
            throw $error;
        }
        $this->pool->put($connection);
        return $answer;
    }

    private function replace(): void
    {
        try {
            // Null says that a connection is gone; the pool makes another one at once.
            $this->pool->put(null);
        } catch (Throwable) {
            // It could not be made. The pool has counted it as missing, and the next call tries again.
        }
    }
}
