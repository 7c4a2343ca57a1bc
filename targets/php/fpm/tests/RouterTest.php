<?php

declare(strict_types=1);

/*
 * Routes: which handler a path finds, and what is refused.
 */

namespace Prony\Fpm\Tests;

use Prony\Http\HttpError;
use Prony\Http\Request;
use Prony\Http\Response;
use Prony\Http\Router;

final class RouterTest
{
    private static function answer(string $method, string $path): mixed
    {
        $router = new Router();
        $router->add('GET', '/db/{id}', fn (Request $asked, array $found): Response => Response::ok($found));
        $router->add('GET', '/db/scan', fn (): Response => Response::ok('scan'));
        return json_decode($router->dispatch(new Request($method, $path))->body, true)['data'];
    }

    public function findsPatternsAndPrefersFixedPaths(): void
    {
        same(['id' => '7'], self::answer('GET', '/db/7'));
        same('scan', self::answer('GET', '/db/scan'));
        same('scan', self::answer('HEAD', '/db/scan'));
    }

    public function anEncodedSlashMakesNoSegment(): void
    {
        same(['id' => '../x'], self::answer('GET', '/db/..%2Fx'));
    }

    public function refusesUnknownPathsAndMethods(): void
    {
        refuses(HttpError::class, fn () => self::answer('GET', '/db'), 404);
        refuses(HttpError::class, fn () => self::answer('GET', '/db/7/8'), 404);
        refuses(HttpError::class, fn () => self::answer('POST', '/db/7'), 405);
        refuses(HttpError::class, fn () => self::answer('POST', '/db/scan'), 405);
    }
}
