<?php

declare(strict_types=1);

/*
 * A request as Swoole hands it over: path and query apart, names in lower case, absent where there is
 * nothing.
 */

namespace Prony\Swoole\Tests;

use Swoole\Http\Request;

final class FakeRequest extends Request
{
    /** @param array<string, mixed> $headers */
    public function __construct(
        string $method,
        string $target,
        array $headers = [],
        private readonly string|false $body = false,
    ) {
        [$path, $query] = explode('?', $target, 2) + [1 => null];
        $this->server = ['request_method' => $method, 'request_uri' => $path];
        if ($query !== null) {
            $this->server['query_string'] = $query;
        }
        $this->header = $headers === [] ? null : $headers;
    }

    public function getContent(): string|false
    {
        return $this->body;
    }
}
