<?php

declare(strict_types=1);

/*
 * Client of prony.v1.Records: gRPC over HTTP/2 through libcurl, since Debian has no gRPC extension for PHP.
 *
 * Invariants: TLS is checked against GRPC_CA_FILE, name included; one curl handle serves one call at a time
 * and keeps its connection for as long as it lives (the README of each target says how long that is). Where
 * GRPC_SOCKET names the Unix socket of a local proxy, calls go there without TLS, and the proxy does all
 * that.
 */

namespace Prony\Service;

use Prony\Http\HttpError;
use UnexpectedValueException;

final class GrpcRecords
{
    private const METHOD = '/prony.v1.Records/List';
    private const TIMEOUT_MS = 5_000;
    private const ANSWER_BYTES_MAX = 4 << 20;

    /** @param Pool<object> $pool of curl handles: CurlHandle, or what Swoole's hooks make instead */
    public function __construct(private readonly Pool $pool)
    {
    }

    public static function connect(): object
    {
        $socket = (string) getenv('GRPC_SOCKET');
        $handle = curl_init();
        curl_setopt_array($handle, ($socket === '' ? self::direct() : self::through($socket)) + [
            CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
            CURLOPT_HTTPHEADER => ['content-type: application/grpc+proto', 'te: trailers', 'expect:'],
            CURLOPT_POST => true,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TIMEOUT_MS => self::TIMEOUT_MS,
            CURLOPT_NOPROXY => '*',
            CURLOPT_NOPROGRESS => false,
            // A call that takes in more than any right answer is ended.
            CURLOPT_PROGRESSFUNCTION => fn ($h, $total, int $in) => $in > self::ANSWER_BYTES_MAX ? 1 : 0,
        ]);
        return $handle;
    }

    /** @return array<int, mixed> curl's options for the backend itself */
    private static function direct(): array
    {
        [$host, $port, $authority] = [getenv('GRPC_HOST'), getenv('GRPC_PORT'), getenv('GRPC_CA_FILE')];
        if (in_array(false, [$host, $port, $authority], true)) {
            throw HttpError::unavailable('no backend: GRPC_HOST, GRPC_PORT or GRPC_CA_FILE is not set');
        }
        return [
            CURLOPT_URL => "https://$host:$port" . self::METHOD,
            CURLOPT_CAINFO => $authority,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTPS,
        ];
    }

    /** @return array<int, mixed> curl's options for a proxy on a Unix socket */
    private static function through(string $socket): array
    {
        return [
            CURLOPT_URL => 'http://localhost' . self::METHOD,
            CURLOPT_UNIX_SOCKET_PATH => $socket,
            CURLOPT_PROTOCOLS => CURLPROTO_HTTP,
        ];
    }

    /**
     * @return list<array<string, mixed>> the records 1 to 8n
     * @throws HttpError 503
     */
    public function list(int $n): array
    {
        try {
            $frames = $this->pool->with(fn (object $handle) => self::call($handle, $n));
            return RecordsCodec::decodeReply(RecordsCodec::unframe($frames));
        } catch (UnexpectedValueException $error) {
            throw HttpError::unavailable('the backend: ' . $error->getMessage(), $error);
        }
    }

    private static function call(object $handle, int $n): string
    {
        $status = null;
        curl_setopt_array($handle, [
            CURLOPT_POSTFIELDS => RecordsCodec::frame(RecordsCodec::encodeRequest($n)),
            // Trailers come through here too; `grpc-status` is one.
            CURLOPT_HEADERFUNCTION => function ($h, string $line) use (&$status): int {
                if (stripos($line, 'grpc-status:') === 0) {
                    $status = trim(substr($line, 12));
                }
                return strlen($line);
            },
        ]);
        $frames = curl_exec($handle);
        if (!is_string($frames)) {
            throw new UnexpectedValueException(curl_error($handle));
        }
        if ($status === null) {
            $http = curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
            throw new UnexpectedValueException("HTTP status $http without a gRPC status");
        }
        if ($status !== '0') {
            throw new UnexpectedValueException("gRPC status $status");
        }
        return $frames;
    }
}
