<?php

declare(strict_types=1);

/*
 * The application: services, routes and the answer to every error. The contract is targets/CONTRACT.md.
 *
 * Invariants: services connect when a route first needs them; `handle` never throws.
 * Absent on purpose: how requests come in and answers go out, and /debug, which are the server's.
 */

namespace Prony;

use Prony\Handler\Complex;
use Prony\Handler\Data;
use Prony\Handler\Order;
use Prony\Handler\Plain;
use Prony\Http\HttpError;
use Prony\Http\Request;
use Prony\Http\Response;
use Prony\Http\Router;
use Prony\Service\Services;
use Throwable;

final class App
{
    private function __construct(private readonly Router $router)
    {
    }

    /** Registers all routes. */
    public static function create(Config $config, Services $services, Router $router = new Router()): self
    {
        $plain = new Plain($config, $services);
        $data = new Data($services, (int) $config->project('app', 'limits', 'count_max'));
        $router->add('GET', '/ping', $plain->ping(...));
        $router->add('GET', '/health', $plain->health(...));
        $router->add('GET', '/json/{n}', $data->json(...));
        $router->add('GET', '/db/scan', $data->scan(...));
        $router->add('GET', '/db/{id}', $data->db(...));
        $router->add('GET', '/file/{name}', $plain->file(...));
        $router->add('GET', '/auth', $plain->auth(...));
        $router->add('GET', '/cache/{key}', $data->cache(...));
        $router->add('GET', '/grpc/{n}', $data->grpc(...));
        $router->add('GET', '/middleware/{k}', $plain->middleware(...));
        $router->add('GET', '/mixed', $data->mixed(...));
        $router->add('POST', '/upload', $plain->upload(...));
        $router->add('GET', '/complex/{id}', (new Complex($services))(...));
        $router->add('GET', '/order/{id}', (new Order($services))(...));
        $router->add('GET', '/allocate/{n}', $plain->allocate(...));
        return new self($router);
    }

    public function handle(Request $request): Response
    {
        try {
            return $this->router->dispatch($request);
        } catch (HttpError $error) {
            return Response::error($error->status, $error->getMessage());
        } catch (Throwable $error) {
            // The client learns nothing of the inside; the server's log is.
            error_log((string) $error);
            return Response::error(500, 'the server failed; its log says why');
        }
    }
}
