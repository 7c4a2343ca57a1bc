<?php

declare(strict_types=1);

/*
 * One answer: status, headers, and a body or the path of a file that is the body.
 *
 * Invariant: exactly one of body and file is used. How it is sent is the server's matter.
 */

namespace Prony\Http;

use stdClass;

final class Response
{
    /** @param array<string, string> $headers */
    private function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $body,
        public readonly ?string $file = null,
    ) {
    }

    public static function ok(mixed $data = new stdClass()): self
    {
        return self::json(['code' => 0, 'msg' => 'ok', 'data' => $data]);
    }

    public static function error(int $status, string $message): self
    {
        return self::json(['code' => $status, 'msg' => $message, 'data' => new stdClass()], $status);
    }

    public static function json(mixed $answer, int $status = 200): self
    {
        $body = json_encode($answer, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);
        return new self($status, ['Content-Type' => 'application/json'], $body);
    }

    public static function text(string $text): self
    {
        return new self(200, ['Content-Type' => 'text/plain; version=0.0.4'], $text);
    }

    public static function file(string $path): self
    {
        return new self(200, ['Content-Type' => 'application/octet-stream'], '', $path);
    }

    public function withHeader(string $name, string $value): self
    {
        return new self($this->status, [$name => $value] + $this->headers, $this->body, $this->file);
    }

    /** Sends it through PHP's own output (FPM). */
    public function emit(): void
    {
        http_response_code($this->status);
        foreach ($this->headers as $name => $value) {
            header($name . ': ' . $value);
        }
        if ($this->file === null) {
            header('Content-Length: ' . strlen($this->body));
            echo $this->body;
            return;
        }
        header('Content-Length: ' . filesize($this->file));
        readfile($this->file);
    }
}
