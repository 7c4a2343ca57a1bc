<?php

declare(strict_types=1);

/*
 * The messages of services/grpc/proto/records.proto in protobuf's wire format, and their gRPC frames.
 * Format: https://protobuf.dev/programming-guides/encoding, and gRPC over HTTP/2 (length-prefixed messages).
 *
 * Invariants: bytes from outside never read past their end; unknown fields are skipped, missing ones have
 * proto3's defaults.
 * Absent on purpose: compression, groups, and messages other than these three.
 */

namespace Prony\Service;

use UnexpectedValueException;

final class RecordsCodec
{
    private const VARINT = 0;
    private const FIXED64 = 1;
    private const BYTES = 2;
    private const FIXED32 = 5;
    private const FIELDS = [1 => 'id', 2 => 'name', 3 => 'email', 4 => 'age', 5 => 'active', 6 => 'score',
        7 => 'tags'];
    private const TYPES = [1 => self::VARINT, 2 => self::BYTES, 3 => self::BYTES, 4 => self::VARINT,
        5 => self::VARINT, 6 => self::FIXED64, 7 => self::BYTES];

    /** ListRequest with n of at least 0. */
    public static function encodeRequest(int $n): string
    {
        return $n === 0 ? '' : "\x08" . self::varint($n);
    }

    public static function frame(string $message): string
    {
        return pack('CN', 0, strlen($message)) . $message;
    }

    /** The one message of a unary answer. */
    public static function unframe(string $frames): string
    {
        if (strlen($frames) < 5) {
            throw new UnexpectedValueException('the answer has no gRPC frame');
        }
        ['flag' => $flag, 'length' => $length] = unpack('Cflag/Nlength', $frames);
        if ($flag !== 0 || strlen($frames) !== $length + 5) {
            throw new UnexpectedValueException('the answer is not one uncompressed gRPC message');
        }
        return substr($frames, 5);
    }

    /** @return list<array<string, mixed>> the records of a ListReply */
    public static function decodeReply(string $bytes): array
    {
        $records = [];
        foreach (self::fields($bytes) as [$number, $type, $value]) {
            if ($number === 1 && $type === self::BYTES) {
                $records[] = self::record($value);
            }
        }
        return $records;
    }

    /** @return array<string, mixed> */
    private static function record(string $bytes): array
    {
        $record = ['id' => 0, 'name' => '', 'email' => '', 'age' => 0, 'active' => false, 'score' => 0.0,
            'tags' => []];
        foreach (self::fields($bytes) as [$number, $type, $value]) {
            if (($expected = self::TYPES[$number] ?? null) === null) {
                continue;
            }
            if ($type !== $expected) {
                throw new UnexpectedValueException("field $number of a record has wire type $type");
            }
            match ($number) {
                5 => $record['active'] = $value !== 0,
                6 => $record['score'] = unpack('e', $value)[1],
                7 => $record['tags'][] = $value,
                default => $record[self::FIELDS[$number]] = $value,
            };
        }
        return $record;
    }

    /** @return iterable<array{int, int, int|string}> number, wire type and raw value of each field */
    private static function fields(string $bytes): iterable
    {
        $at = 0;
        $end = strlen($bytes);
        while ($at < $end) {
            $tag = self::readVarint($bytes, $at);
            $type = $tag & 7;
            if ($type === self::VARINT) {
                $value = self::readVarint($bytes, $at);
            } else {
                $length = match ($type) {
                    self::FIXED64 => 8,
                    self::FIXED32 => 4,
                    self::BYTES => self::readVarint($bytes, $at),
                    default => throw new UnexpectedValueException("wire type $type is not known"),
                };
                if ($length < 0 || $length > $end - $at) {
                    throw new UnexpectedValueException('a field is longer than its message');
                }
                $value = substr($bytes, $at, $length);
                $at += $length;
            }
            yield [$tag >> 3, $type, $value];
        }
    }

    private static function readVarint(string $bytes, int &$at): int
    {
        $value = 0;
        for ($shift = 0; $shift < 70; $shift += 7) {
            if (!isset($bytes[$at])) {
                throw new UnexpectedValueException('a number ends early');
            }
            $byte = ord($bytes[$at++]);
            // Bits past the 64th are dropped, as protobuf's own readers do.
            $value |= $shift < 64 ? ($byte & 0x7f) << $shift : 0;
            if ($byte < 0x80) {
                return $value;
            }
        }
        throw new UnexpectedValueException('a number is longer than 10 bytes');
    }

    private static function varint(int $value): string
    {
        $bytes = '';
        while ($value > 0x7f) {
            $bytes .= chr($value & 0x7f | 0x80);
            $value >>= 7;
        }
        return $bytes . chr($value);
    }
}
