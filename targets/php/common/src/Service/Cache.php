<?php

declare(strict_types=1);

/*
 * Values by key from Redis, written where they are missing.
 */

namespace Prony\Service;

use Closure;
use Prony\Http\HttpError;
use Redis;
use RedisException;

final class Cache
{
    private const TIMEOUT_S = 1.0;

    /** @param Pool<Redis> $pool */
    public function __construct(private readonly Pool $pool, private readonly int $lifeSeconds)
    {
    }

    public static function connect(bool $persistent): Redis
    {
        $host = getenv('REDIS_HOST');
        if ($host === false || $host === '') {
            throw HttpError::unavailable('no cache: REDIS_HOST is not set');
        }
        $redis = new Redis();
        $port = (int) getenv('REDIS_PORT');
        $persistent
            ? $redis->pconnect($host, $port, self::TIMEOUT_S)
            : $redis->connect($host, $port, self::TIMEOUT_S);
        return $redis;
    }

    /**
     * @return array{key: string, value: string}
     * @throws HttpError 400 for a bad key, 503
     */
    public function value(string $key): array
    {
        if (preg_match('/\A[A-Za-z0-9_-]{1,64}\z/', $key) !== 1) {
            throw HttpError::badRequest('the key must be 1 to 64 of a-z A-Z 0-9 _ -');
        }
        return $this->ask(function (Redis $redis) use ($key): array {
            $value = $redis->get($key);
            if ($value === false) {
                $value = 'value-of-' . $key;
                $redis->set($key, $value, ['ex' => $this->lifeSeconds]);
            }
            return ['key' => $key, 'value' => $value];
        });
    }

    /** Asks the server for a sign of life. */
    public function ping(): void
    {
        $this->ask(fn (Redis $redis) => $redis->ping());
    }

    private function ask(Closure $use): mixed
    {
        try {
            return $this->pool->with($use);
        } catch (RedisException $error) {
            throw HttpError::unavailable('the cache does not answer', $error);
        }
    }
}
