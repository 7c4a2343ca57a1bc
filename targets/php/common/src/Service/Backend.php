<?php

declare(strict_types=1);

/*
 * Client of the HTTP backend, for a route that calls another service: libcurl, one handle for one call at a time.
 *
 * A handle keeps its connection for as long as it lives, which under FPM is one request.
 */

namespace Prony\Service;

use JsonException;
use Prony\Http\HttpError;
use UnexpectedValueException;

final class Backend
{
    private const TIMEOUT_MS = 5_000;

    /** @param Pool<object> $pool of curl handles: CurlHandle, or what Swoole's hooks make instead */
    public function __construct(private readonly Pool $pool)
    {
    }

    public static function connect(): object
    {
        if ((string) getenv('BACKEND_HOST') === '') {
            throw HttpError::unavailable('no backend: BACKEND_HOST is not set');
        }
        $handle = curl_init();
        curl_setopt_array($handle, [
            CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_1_1,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TIMEOUT_MS => self::TIMEOUT_MS,
            CURLOPT_NOPROXY => '*',
        ]);
        return $handle;
    }

    /**
     * @param int $waitMs how much later the backend answers
     * @return list<array<string, mixed>> the records 1 to 8n
     * @throws HttpError 503
     */
    public function records(int $n, int $waitMs = 0): array
    {
        try {
            return $this->pool->with(function (object $handle) use ($n, $waitMs): array {
                $address = getenv('BACKEND_HOST') . ':' . getenv('BACKEND_PORT');
                curl_setopt($handle, CURLOPT_URL, "http://$address/records/$n" . ($waitMs > 0 ? "?wait={$waitMs}ms" : ''));
                $body = curl_exec($handle);
                if (!is_string($body)) {
                    throw new UnexpectedValueException(curl_error($handle));
                }
                $answer = json_decode($body, true, 16, JSON_THROW_ON_ERROR);
                return is_array($answer['data'] ?? null) && ($answer['code'] ?? null) === 0
                    ? $answer['data']
                    : throw new UnexpectedValueException('it refused');
            });
        } catch (UnexpectedValueException | JsonException $error) {
            throw HttpError::unavailable('the backend: ' . $error->getMessage(), $error);
        }
    }
}
