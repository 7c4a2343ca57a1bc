<?php

declare(strict_types=1);

/*
 * An error that is sent to the client: its status and a message for people.
 */

namespace Prony\Http;

use RuntimeException;
use Throwable;

final class HttpError extends RuntimeException
{
    public function __construct(public readonly int $status, string $message, ?Throwable $previous = null)
    {
        parent::__construct($message, $status, $previous);
    }

    public static function badRequest(string $message): self
    {
        return new self(400, $message);
    }

    public static function unauthorized(string $message): self
    {
        return new self(401, $message);
    }

    public static function notFound(string $message): self
    {
        return new self(404, $message);
    }

    public static function unavailable(string $message, ?Throwable $previous = null): self
    {
        return new self(503, $message, $previous);
    }
}
