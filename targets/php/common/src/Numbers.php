<?php

declare(strict_types=1);

/*
 * Numbers from paths and queries: plain decimal digits, no sign, no leading 0.
 */

namespace Prony;

use Prony\Http\HttpError;

final class Numbers
{
    /** @throws HttpError 400 where the text is no such number from $least to $most */
    public static function plain(string $text, string $name, int $least, int $most): int
    {
        $number = preg_match('/\A(0|[1-9][0-9]{0,17})\z/', $text) === 1 ? (int) $text : null;
        if ($number === null || $number < $least || $number > $most) {
            throw HttpError::badRequest("$name must be an integer from $least to $most");
        }
        return $number;
    }
}
