<?php

declare(strict_types=1);

/*
 * /debug/opcache: the counters of the opcache and its JIT, without the list of files.
 */

namespace Prony\Fpm;

use Prony\Http\Response;

final class Debug
{
    public static function opcache(): Response
    {
        // False where the opcache is off.
        return Response::json(opcache_get_status(false) ?: ['opcache_enabled' => false]);
    }
}
