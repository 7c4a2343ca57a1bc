<?php

declare(strict_types=1);

/*
 * Client of prony.v1.Records: gRPC over HTTP/2 through libcurl, since Debian has no gRPC extension for PHP.
 *
 * Invariants: TLS is checked against GRPC_CA_FILE, name included; one curl handle serves one call at a time and
 * keeps its connection for as long as it lives (the README of each target says how long that is).
 */

namespace Prony\Service;

use CurlHandle;
use Prony\Http\HttpError;
use UnexpectedValueException;

final class GrpcRecords
{
    private const TIMEOUT_MS = 5_000;
    private const ANSWER_BYTES_MAX = 4 << 20;

    /** @param Pool<CurlHandle> $pool */
    public function __construct(private readonly Pool $pool)
    {
    }

    public static function connect(): CurlHandle
    {
        [$host, $port, $authority] = [getenv('GRPC_HOST'), getenv('GRPC_PORT'), getenv('GRPC_CA_FILE')];
        if (in_array(false, [$host, $port, $authority], true)) {
            throw HttpError::unavailable('no backend: GRPC_HOST, GRPC_PORT or GRPC_CA_FILE is not set');
        }
        $handle = curl_init("https://$host:$port/prony.v1.Records/List");
        curl_setopt_array($handle, [
            CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
            CURLOPT_HTTPHEADER => ['content-type: application/grpc+proto', 'te: trailers', 'expect:'],
            CURLOPT_CAINFO => $authority,
            CURLOPT_POST => true,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TIMEOUT_MS => self::TIMEOUT_MS,
            CURLOPT_NOPROXY => '*',
            CURLOPT_PROTOCOLS => CURLPROTO_HTTPS,
            CURLOPT_NOPROGRESS => false,
            // A call that takes in more than any right answer is ended.
            CURLOPT_PROGRESSFUNCTION => fn ($h, $total, int $in) => $in > self::ANSWER_BYTES_MAX ? 1 : 0,
        ]);
        return $handle;
    }

    /**
     * @return list<array<string, mixed>> the records 1 to 8n
     * @throws HttpError 503
     */
    public function list(int $n): array
    {
        try {
            $frames = $this->pool->with(fn (CurlHandle $handle) => self::call($handle, $n));
            return RecordsCodec::decodeReply(RecordsCodec::unframe($frames));
        } catch (UnexpectedValueException $error) {
            throw HttpError::unavailable('the backend: ' . $error->getMessage(), $error);
        }
    }

    private static function call(CurlHandle $handle, int $n): string
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
        if ($status !== '0') {
            throw new UnexpectedValueException('gRPC status ' . ($status ?? 'missing'));
        }
        return $frames;
    }
}
