<?php

declare(strict_types=1);

/*
 * What all processes of a run count together, in the file $TALLY_FILE: collections and their time, and how much
 * memory PHP held and used at the peak of the largest request. Without the variable nothing is kept.
 *
 * Invariants: one process at a time changes the file; counts only grow, and the largest values are those since they
 * were last read.
 */

namespace Prony;

use RuntimeException;

final class Tally
{
    private const EMPTY = ['collections' => 0, 'collection_ns' => 0, 'longest_ns' => 0, 'held_bytes' => 0,
        'used_bytes' => 0];

    public static function add(Items $items): void
    {
        $held = memory_get_peak_usage(true);
        $used = memory_get_peak_usage();
        self::change(function (array $tally) use ($items, $held, $used): array {
            $tally['collections'] += $items->collections;
            $tally['collection_ns'] += $items->collectionNs;
            $tally['longest_ns'] = max($tally['longest_ns'], $items->longestNs);
            if ($held >= $tally['held_bytes']) {
                [$tally['held_bytes'], $tally['used_bytes']] = [$held, $used];
            }
            return $tally;
        });
    }

    /**
     * What was counted; the largest values begin anew. A value that nothing was seen of is null.
     *
     * @return array<string, ?int>
     */
    public static function read(): array
    {
        $seen = self::EMPTY;
        self::change(function (array $tally) use (&$seen): array {
            $seen = $tally;
            return ['longest_ns' => 0, 'held_bytes' => 0, 'used_bytes' => 0] + $tally;
        });
        foreach (['longest_ns', 'held_bytes', 'used_bytes'] as $name) {
            $seen[$name] = $seen[$name] ?: null;
        }
        return $seen;
    }

    /** @param callable(array<string, int>): array<string, int> $change */
    private static function change(callable $change): void
    {
        $path = (string) getenv('TALLY_FILE');
        if ($path === '') {
            return;
        }
        $file = fopen($path, 'c+b');
        if ($file === false || !flock($file, LOCK_EX)) {
            throw new RuntimeException("TALLY_FILE=$path cannot be written");
        }
        $known = json_decode((string) stream_get_contents($file), true);
        $text = json_encode($change(is_array($known) ? $known : self::EMPTY), JSON_THROW_ON_ERROR);
        ftruncate($file, 0);
        rewind($file);
        fwrite($file, $text);
        // Closing lets the next one in.
        fclose($file);
    }
}
