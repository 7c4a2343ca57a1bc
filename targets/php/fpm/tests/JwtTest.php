<?php

declare(strict_types=1);

/*
 * Tokens: a right one, and each way to be wrong.
 */

namespace Prony\Fpm\Tests;

use Prony\Http\HttpError;
use Prony\Service\Jwt;

final class JwtTest
{
    private const NOW = 1_000;

    /** @param array<string, mixed> $claims */
    private static function token(array $claims, string $algorithm = 'HS256', string $secret = 's'): string
    {
        $part = fn (string $bytes): string => rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
        $signed = $part(json_encode(['alg' => $algorithm])) . '.' . $part(json_encode($claims));
        return $signed . '.' . $part(hash_hmac('sha256', $signed, $secret, true));
    }

    private static function subject(?string $authorization): string
    {
        return (new Jwt('s', fn (): int => self::NOW))->subject($authorization);
    }

    public function takesARightToken(): void
    {
        same('me', self::subject('Bearer ' . self::token(['sub' => 'me', 'exp' => self::NOW + 1])));
    }

    public function refusesWrongOnes(): void
    {
        $good = ['sub' => 'me', 'exp' => self::NOW + 1];
        $wrong = [
            'expired' => self::token(['exp' => self::NOW] + $good),
            'endless' => self::token(['sub' => 'me']),
            'end as text' => self::token(['exp' => '2000'] + $good),
            'no subject' => self::token(['exp' => self::NOW + 1]),
            'other secret' => self::token($good, 'HS256', 't'),
            'none' => self::token($good, 'none'),
            'HS512' => self::token($good, 'HS512'),
            'cut off' => substr(self::token($good), 0, -1),
            'two parts' => 'a.b',
            'too long' => self::token(['x' => str_repeat('x', 10_000)] + $good),
        ];
        foreach ($wrong as $token) {
            refuses(HttpError::class, fn () => self::subject("Bearer $token"), 401);
        }
        refuses(HttpError::class, fn () => self::subject(null), 401);
        refuses(HttpError::class, fn () => self::subject('Basic ' . self::token($good)), 401);
    }
}
