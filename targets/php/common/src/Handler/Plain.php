<?php

declare(strict_types=1);

/*
 * Routes that need no service: ping, health, file, auth, middleware, allocate, upload.
 */

namespace Prony\Handler;

use Prony\Config;
use Prony\Http\HttpError;
use Prony\Http\Request;
use Prony\Http\Response;
use Prony\Items;
use Prony\Layers;
use Prony\Numbers;
use Prony\Service\Services;
use Prony\Tally;

final class Plain
{
    private const FILES = ['1k', '64k', '1m'];
    private const OBJECTS_MAX = 10_000_000;

    public function __construct(private readonly Config $config, private readonly Services $services)
    {
    }

    public function ping(): Response
    {
        return Response::ok();
    }

    public function health(): Response
    {
        $this->services->reach();
        return Response::json(['status' => 'ok']);
    }

    /** @param array{name: string} $parameters */
    public function file(Request $request, array $parameters): Response
    {
        $folder = getenv('FILES_DIR') ?: dirname(__DIR__, 4) . '/files';
        $path = $folder . '/' . $parameters['name'];
        if (!in_array($parameters['name'], self::FILES, true) || !is_file($path)) {
            throw HttpError::notFound('no such file');
        }
        return Response::file($path);
    }

    public function auth(Request $request): Response
    {
        return Response::ok(['sub' => $this->services->jwt()->subject($request->header('authorization'))]);
    }

    /** @param array{k: string} $parameters */
    public function middleware(Request $request, array $parameters): Response
    {
        $count = Numbers::plain($parameters['k'], 'k', 0, Layers::COUNT);
        $inner = fn (): Response => Response::ok(['layers' => $count]);
        $layers = new Layers($this->services->jwt(), $this->services->log(...));
        return $layers->around($inner, $count)($request);
    }

    /** @param array{n: string} $parameters */
    public function allocate(Request $request, array $parameters): Response
    {
        $count = Numbers::plain($parameters['n'], 'n', 1, self::OBJECTS_MAX);
        $items = Items::make($count, $request->parameter('cycles') === '1');
        Tally::add($items);
        return Response::ok(['objects' => $items->count, 'sum' => $items->sum]);
    }

    public function upload(Request $request): Response
    {
        $most = (int) $this->config->project('app', 'limits', 'upload_bytes_max');
        $hash = hash_init('sha256');
        $bytes = 0;
        foreach ($request->body() as $piece) {
            $bytes += strlen($piece);
            if ($bytes > $most) {
                throw new HttpError(413, "the body is longer than $most bytes");
            }
            hash_update($hash, $piece);
        }
        return Response::ok(['bytes' => $bytes, 'sha256' => hash_final($hash)]);
    }
}
