<?php

declare(strict_types=1);

/*
 * Lends a connection for the length of one call. FPM's children have one each; Swoole's coroutines share
 * several.
 */

namespace Prony\Service;

use Closure;

/** @template T of object */
interface Pool
{
    /**
     * Calls $use with a connection; one during which $use threw a broken connection is not lent again.
     *
     * @param Closure(T): mixed $use
     */
    public function with(Closure $use): mixed;
}
