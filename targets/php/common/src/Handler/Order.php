<?php

declare(strict_types=1);

/*
 * The route order: an order and what follows it, at once or behind a queue. The answer is the same.
 */

namespace Prony\Handler;

use Prony\Http\Request;
use Prony\Http\Response;
use Prony\Numbers;
use Prony\Service\Services;

final class Order
{
    private const USERS = 100_000;

    public function __construct(private readonly Services $services)
    {
    }

    /** @param array{id: string} $parameters */
    public function __invoke(Request $request, array $parameters): Response
    {
        $id = Numbers::plain($parameters['id'], 'id', 1, self::USERS);
        $this->services->order($id);
        return Response::ok(['id' => $id, 'order' => 'accepted']);
    }
}
