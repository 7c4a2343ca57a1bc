<?php

declare(strict_types=1);

/*
 * Checks JSON Web Tokens (RFC 7519): HS256 only, `exp` required.
 *
 * Invariants: the algorithm is never taken from the token; signatures are compared in constant time; the
 * clock is given, in Unix seconds.
 * Absent on purpose: making tokens.
 */

namespace Prony\Service;

use Closure;
use Prony\Http\HttpError;

final class Jwt
{
    private const LENGTH_MAX = 8192;

    /** @param Closure(): int $now */
    public function __construct(private readonly string $secret, private readonly Closure $now)
    {
    }

    /**
     * The subject of the bearer token of an Authorization header.
     *
     * @throws HttpError 401
     */
    public function subject(?string $authorization): string
    {
        if ($authorization === null || preg_match('/\ABearer +(\S+)\z/i', $authorization, $found) !== 1) {
            throw HttpError::unauthorized('a bearer token is required');
        }
        $claims = $this->claims($found[1]);
        $ends = $claims['exp'] ?? null;
        if (!(is_int($ends) || is_float($ends)) || $ends <= ($this->now)()) {
            throw HttpError::unauthorized('the token is expired or has no end');
        }
        $subject = $claims['sub'] ?? null;
        return is_string($subject) ? $subject : throw HttpError::unauthorized('the token has no subject');
    }

    /** @return array<string, mixed> the claims of a token that is rightly signed */
    private function claims(string $token): array
    {
        $parts = explode('.', $token);
        if (strlen($token) > self::LENGTH_MAX || count($parts) !== 3) {
            throw HttpError::unauthorized('this is no token');
        }
        [$header, $claims, $signature] = $parts;
        if ((self::object($header)['alg'] ?? null) !== 'HS256') {
            throw HttpError::unauthorized('the token must be signed by HS256');
        }
        $right = hash_hmac('sha256', "$header.$claims", $this->secret, true);
        if (!hash_equals($right, self::bytes($signature))) {
            throw HttpError::unauthorized('the signature is wrong');
        }
        return self::object($claims);
    }

    /** @return array<string, mixed> */
    private static function object(string $part): array
    {
        $value = json_decode(self::bytes($part), true, 16);
        return is_array($value)
            ? $value
            : throw HttpError::unauthorized('a part of the token is no JSON object');
    }

    private static function bytes(string $part): string
    {
        $bytes = base64_decode(strtr($part, '-_', '+/'), true);
        return $bytes !== false
            ? $bytes
            : throw HttpError::unauthorized('a part of the token is no base64url');
    }
}
