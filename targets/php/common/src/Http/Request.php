<?php

declare(strict_types=1);

/*
 * One HTTP request as the application sees it, whatever server took it in.
 *
 * Invariants: header names are lower case; path segments are split before they are decoded, so that an
 * encoded slash never makes a new segment; the body is read once, in pieces.
 * Absent on purpose: cookies, forms and uploaded files, which no route has. It needs no other class, so that
 * the front controller can load it before the autoloader.
 */

namespace Prony\Http;

use Closure;

final class Request
{
    /**
     * @param array<string, mixed> $query
     * @param array<string, string> $headers names in lower case
     * @param Closure(): iterable<string> $body
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly array $query = [],
        public readonly array $headers = [],
        private readonly ?Closure $body = null,
    ) {
    }

    /** The request of this PHP process (FPM, CGI). */
    public static function fromGlobals(): self
    {
        $headers = [];
        foreach ($_SERVER as $name => $value) {
            if (str_starts_with($name, 'HTTP_')) {
                $headers[strtolower(strtr(substr($name, 5), '_', '-'))] = (string) $value;
            }
        }
        [$path, $queryText] = explode('?', $_SERVER['REQUEST_URI'] ?? '/', 2) + [1 => ''];
        parse_str($queryText, $query);
        return new self($_SERVER['REQUEST_METHOD'] ?? 'GET', $path, $query, $headers, self::input(...));
    }

    /** @return list<string> the decoded segments of the path */
    public function segments(): array
    {
        return array_map(rawurldecode(...), explode('/', ltrim($this->path, '/')));
    }

    /** A query parameter; null where it is missing or a list. */
    public function parameter(string $name): ?string
    {
        $value = $this->query[$name] ?? null;
        return is_string($value) ? $value : null;
    }

    public function header(string $name): ?string
    {
        return $this->headers[$name] ?? null;
    }

    /** @return iterable<string> */
    public function body(): iterable
    {
        return $this->body === null ? [] : ($this->body)();
    }

    /** @return iterable<string> */
    private static function input(): iterable
    {
        $stream = fopen('php://input', 'rb');
        while ($stream !== false && !feof($stream)) {
            $piece = fread($stream, 65536);
            if ($piece === false) {
                return;
            }
            yield $piece;
        }
    }
}
