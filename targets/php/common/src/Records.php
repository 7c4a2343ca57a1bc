<?php

declare(strict_types=1);

/*
 * The records of /json/{n}, built for each call.
 */

namespace Prony;

final class Records
{
    private const PER_COUNT = 8;

    /** @return list<array<string, mixed>> the records 1 to 8n; the caller has checked n */
    public static function list(int $n): array
    {
        return array_map(self::record(...), range(1, self::PER_COUNT * $n));
    }

    /** @return array<string, mixed> */
    private static function record(int $id): array
    {
        $name = sprintf('user-%06d', $id);
        return [
            'id' => $id,
            'name' => $name,
            'email' => $name . '@example.com',
            'age' => 18 + ($id * 7) % 50,
            'active' => $id % 2 === 0,
            'score' => $id * 1.5,
            'tags' => self::tags($id),
        ];
    }

    /** @return list<string> alpha, beta, gamma rotated to the left by id places */
    private static function tags(int $id): array
    {
        $names = ['alpha', 'beta', 'gamma'];
        $by = $id % 3;
        return [...array_slice($names, $by), ...array_slice($names, 0, $by)];
    }
}
