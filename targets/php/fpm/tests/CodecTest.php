<?php

declare(strict_types=1);

/*
 * The codec against bytes that protoc made of services/grpc/proto, and against broken ones.
 */

namespace Prony\Fpm\Tests;

use Prony\Service\RecordsCodec;
use UnexpectedValueException;

final class CodecTest
{
    /** protoc --encode=prony.v1.ListReply of the records that decodesProtocsBytes expects */
    private const REPLY = '0a220801120b757365722d303030303031201931000000000000f83f3a04626574613a00'
        . '0a0808ac021a01652801';

    public function encodesAsProtoc(): void
    {
        same('08e807', bin2hex(RecordsCodec::encodeRequest(1000)));
        same('', RecordsCodec::encodeRequest(0));
    }

    public function decodesProtocsBytes(): void
    {
        $right = [
            ['id' => 1, 'name' => 'user-000001', 'email' => '', 'age' => 25, 'active' => false,
                'score' => 1.5, 'tags' => ['beta', '']],
            ['id' => 300, 'name' => '', 'email' => 'e', 'age' => 0, 'active' => true,
                'score' => 0.0, 'tags' => []],
        ];
        same($right, RecordsCodec::decodeReply(hex2bin(self::REPLY)));
    }

    public function anyCutOffReplyIsRefusedOrShorter(): void
    {
        $reply = hex2bin(self::REPLY);
        $whole = ['' => 0, substr($reply, 0, 2 + ord($reply[1])) => 1];
        for ($length = 0; $length < strlen($reply); $length++) {
            $cut = substr($reply, 0, $length);
            if (isset($whole[$cut])) {
                same($whole[$cut], count(RecordsCodec::decodeReply($cut)));
            } else {
                refuses(UnexpectedValueException::class, fn () => RecordsCodec::decodeReply($cut));
            }
        }
    }

    public function refusesWhatIsNoMessage(): void
    {
        $endless = str_repeat("\xff", 11);
        $short = ["\x0b", "\x0a\x02\x0a\x05", "\x0a\x02\x0d\x00", "\x0a\x02\x12"];
        foreach ([$endless, "\x0a" . $endless, ...$short] as $bytes) {
            refuses(UnexpectedValueException::class, fn () => RecordsCodec::decodeReply($bytes));
        }
    }

    public function framesAreExact(): void
    {
        same('abc', RecordsCodec::unframe(RecordsCodec::frame('abc')));
        foreach (['', "\0\0\0\0", "\1\0\0\0\0", "\0\0\0\0\1", "\0\0\0\0\0x"] as $bytes) {
            refuses(UnexpectedValueException::class, fn () => RecordsCodec::unframe($bytes));
        }
    }
}
