<?php

declare(strict_types=1);

/*
 * /debug/opcache: the counters of the opcache and its JIT, without the list of files. /debug/php: collections and
 * memory, as all children counted them in requests that do. /debug/requests: how long requests took, where they are
 * timed.
 */

namespace Prony\Fpm;

use Prony\Http\Response;
use Prony\Tally;
use Prony\Times;

final class Debug
{
    public static function opcache(): Response
    {
        // False where the opcache is off.
        return Response::json(opcache_get_status(false) ?: ['opcache_enabled' => false]);
    }

    public static function requests(): Response
    {
        return Times::isOn() ? Response::text(Times::text()) : Response::error(404, 'no such path');
    }

    public static function php(): Response
    {
        return Response::json(Tally::read());
    }
}
