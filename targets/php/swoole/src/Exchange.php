<?php

declare(strict_types=1);

/*
 * Swoole's requests as the application takes them, and its answers as Swoole sends them.
 *
 * Invariant: the query is read from its text by PHP's own rules, so that it means the same as under FPM.
 */

namespace Prony\Swoole;

use Prony\Http\Request;
use Prony\Http\Response;
use Swoole\Http\Request as SwooleRequest;
use Swoole\Http\Response as SwooleResponse;

final class Exchange
{
    public static function request(SwooleRequest $request): Request
    {
        parse_str($request->server['query_string'] ?? '', $query);
        return new Request(
            $request->server['request_method'],
            $request->server['request_uri'],
            $query,
            // Swoole 6 makes a list of a header that came more than once.
            array_map(fn ($value) => implode(', ', (array) $value), $request->header ?? []),
            // Swoole has taken the body in whole; it is false where there is none.
            fn (): array => [(string) $request->getContent()],
        );
    }

    public static function send(Response $answer, SwooleResponse $response): void
    {
        $response->status($answer->status);
        foreach ($answer->headers as $name => $value) {
            $response->header($name, $value);
        }
        if ($answer->file === null) {
            $response->end($answer->body);
        } else {
            $response->sendfile($answer->file);
        }
    }
}
