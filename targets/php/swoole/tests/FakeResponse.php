<?php

declare(strict_types=1);

/*
 * Keeps what a worker sends.
 */

namespace Prony\Swoole\Tests;

use Swoole\Http\Response;

final class FakeResponse extends Response
{
    public ?int $code = null;
    /** @var array<string, string> */
    public array $sent = [];
    public ?string $body = null;
    public ?string $path = null;

    public function status($http_code, $reason = ''): bool
    {
        $this->code = $http_code;
        return true;
    }

    public function header($key, $value, $format = true): bool
    {
        $this->sent[$key] = $value;
        return true;
    }

    public function end($content = null): bool
    {
        $this->body = $content;
        return true;
    }

    public function sendfile($filename, $offset = 0, $length = 0): bool
    {
        $this->path = $filename;
        return true;
    }
}
