<?php

declare(strict_types=1);

/*
 * Routes of records and users: json, db, cache, grpc, mixed.
 */

namespace Prony\Handler;

use Prony\Http\HttpError;
use Prony\Http\Request;
use Prony\Http\Response;
use Prony\Numbers;
use Prony\Records;
use Prony\Service\Services;

final class Data
{
    private const QUERIES_MAX = 20;

    public function __construct(private readonly Services $services, private readonly int $countMax)
    {
    }

    /** @param array{n: string} $parameters */
    public function json(Request $request, array $parameters): Response
    {
        return Response::ok(Records::list(Numbers::plain($parameters['n'], 'n', 1, $this->countMax)));
    }

    /** @param array{id: string} $parameters */
    public function db(Request $request, array $parameters): Response
    {
        $id = Numbers::plain($parameters['id'], 'id', 0, PHP_INT_MAX);
        if (!array_key_exists('queries', $request->query)) {
            return Response::ok($this->services->users()->byId($id));
        }
        $count = Numbers::plain($request->parameter('queries') ?? '', 'queries', 1, self::QUERIES_MAX);
        return Response::ok(['users' => $this->services->users()->following($id, $count)]);
    }

    public function scan(Request $request): Response
    {
        $name = $request->parameter('name') ?? '';
        if ($name === '') {
            throw HttpError::badRequest('name is required');
        }
        return Response::ok(['users' => $this->services->users()->byName($name)]);
    }

    /** @param array{key: string} $parameters */
    public function cache(Request $request, array $parameters): Response
    {
        return Response::ok($this->services->cache()->value($parameters['key']));
    }

    /** @param array{n: string} $parameters */
    public function grpc(Request $request, array $parameters): Response
    {
        $n = Numbers::plain($parameters['n'], 'n', 1, $this->countMax);
        return Response::ok($this->services->grpc()->list($n));
    }

    public function mixed(Request $request): Response
    {
        $id = Numbers::plain((string) ($request->query['id'] ?? '1'), 'id', 0, PHP_INT_MAX);
        return Response::ok([
            'user' => $this->services->users()->byId($id),
            'cached' => $this->services->cache()->value("mixed-$id"),
            'records' => Records::list(1),
        ]);
    }
}
