<?php

declare(strict_types=1);

/*
 * Finds the handler of a path. A pattern is fixed text and `{name}` segments: `/db/{id}`.
 *
 * Invariants: a path without parameters wins over a pattern; a pattern matches as many segments as it has;
 * HEAD is answered as GET.
 * Absent on purpose: optional segments, groups and a cache of routes: registering them belongs to each
 * request of FPM.
 */

namespace Prony\Http;

use Closure;

final class Router
{
    /** @var array<string, array<string, Closure>> path => method => handler */
    private array $fixed = [];

    /**
     * By number of segments.
     *
     * @var array<int, list<array{segments: list<string>, method: string, handler: Closure}>>
     */
    private array $patterns = [];

    /** @param Closure(Request, array<string, string>): Response $handler */
    public function add(string $method, string $pattern, Closure $handler): void
    {
        if (!str_contains($pattern, '{')) {
            $this->fixed[$pattern][$method] = $handler;
            return;
        }
        $segments = explode('/', ltrim($pattern, '/'));
        $this->patterns[count($segments)][] = compact('segments', 'method', 'handler');
    }

    /** @throws HttpError 404 where no route has the path, 405 where only another method has it */
    public function dispatch(Request $request): Response
    {
        $method = $request->method === 'HEAD' ? 'GET' : $request->method;
        $fixed = $this->fixed[$request->path] ?? null;
        if (isset($fixed[$method])) {
            return $fixed[$method]($request, []);
        }
        $known = $fixed !== null;
        $segments = $request->segments();
        foreach ($this->patterns[count($segments)] ?? [] as $route) {
            $parameters = self::match($route['segments'], $segments);
            if ($parameters !== null && $route['method'] === $method) {
                return $route['handler']($request, $parameters);
            }
            $known = $known || $parameters !== null;
        }
        throw $known
            ? new HttpError(405, 'this path has no ' . $request->method)
            : HttpError::notFound('no such path');
    }

    /**
     * @param list<string> $pattern
     * @param list<string> $segments as many as the pattern has
     * @return array<string, string>|null null where they do not match
     */
    private static function match(array $pattern, array $segments): ?array
    {
        $parameters = [];
        foreach ($pattern as $place => $text) {
            if ($text[0] === '{') {
                $parameters[substr($text, 1, -1)] = $segments[$place];
            } elseif ($text !== $segments[$place]) {
                return null;
            }
        }
        return $parameters;
    }
}
