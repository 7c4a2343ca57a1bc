<?php

declare(strict_types=1);

/*
 * A pool of one connection, made when it is first needed: what a process that serves one request at a time
 * needs.
 */

namespace Prony\Service;

use Closure;
use Prony\Http\HttpError;
use Throwable;

/** @implements Pool<object> */
final class Single implements Pool
{
    private ?object $connection = null;

    /** @param Closure(): object $connect */
    public function __construct(private readonly Closure $connect)
    {
    }

    public function with(Closure $use): mixed
    {
        $this->connection ??= ($this->connect)();
        try {
            return $use($this->connection);
        } catch (HttpError $error) {
            // An answer, such as 404, from a connection that works.
            throw $error;
        } catch (Throwable $error) {
            // It may be the reason; the next call makes a new one.
            $this->connection = null;
            throw $error;
        }
    }
}
