<?php

declare(strict_types=1);

/*
 * The route complex: what a page of an application does, 2 to 8 calls of other services, one after the other.
 */

namespace Prony\Handler;

use Prony\Http\Request;
use Prony\Http\Response;
use Prony\Numbers;
use Prony\Service\Services;

final class Complex
{
    private const CALLS_LEAST = 2;
    private const CALLS_MOST = 8;
    private const USERS = 100_000;

    public function __construct(private readonly Services $services)
    {
    }

    /** @param array{id: string} $parameters */
    public function __invoke(Request $request, array $parameters): Response
    {
        $id = Numbers::plain($parameters['id'], 'id', 1, self::USERS);
        $given = $request->parameter('calls') ?? '5';
        $calls = Numbers::plain($given, 'calls', self::CALLS_LEAST, self::CALLS_MOST);
        [$users, $cached, $records] = [[], [], 0];
        // In turn: the database, the cache, the other service.
        for ($call = 0; $call < $calls; $call++) {
            $one = ($id - 1 + intdiv($call, 3)) % self::USERS + 1;
            match ($call % 3) {
                0 => $users[] = $this->services->users()->byId($one),
                1 => $cached[] = $this->services->cache()->value("complex-$one"),
                2 => $records += count($this->services->backend()->records(1)),
            };
        }
        return Response::ok(compact('calls', 'users', 'cached', 'records'));
    }
}
