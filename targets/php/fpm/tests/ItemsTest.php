<?php

declare(strict_types=1);

/*
 * Short-lived objects: none is lost, those that point at themselves are collected, and what was counted is told once.
 * Durations fall into their buckets.
 */

namespace Prony\Fpm\Tests;

use Prony\Items;
use Prony\Tally;
use Prony\Times;

final class ItemsTest
{
    public function everyObjectIsMade(): void
    {
        foreach ([1, 1023, 1024, 1025, 25_000] as $count) {
            foreach ([false, true] as $cycles) {
                $items = Items::make($count, $cycles);
                same($count * ($count + 1) / 2, $items->sum);
                same($cycles ? intdiv($count, 10_000) + 1 : 0, $items->collections);
            }
        }
    }

    public function durationsFallIntoTheirBuckets(): void
    {
        $folder = Folder::make();
        putenv("TIMES_FILE=$folder/times.bin");
        try {
            foreach ([0.0, 1e-5, 1.1e-5, 3600.0] as $seconds) {
                Times::add($seconds);
            }
            $text = Times::text();
            foreach (['_bucket{le="1.0e-5"} 2', '_bucket{le="2.0e-5"} 3', '_bucket{le="+Inf"} 4', '_count 4'] as $line) {
                same(true, str_contains($text, "http_request_duration_seconds$line\n"));
            }
            same($text, Times::text());
        } finally {
            putenv('TIMES_FILE');
            Folder::remove($folder);
        }
    }

    public function cyclesAreGoneAfterwards(): void
    {
        $was = gc_enabled();
        Items::make(15_000, true);
        same(0, gc_collect_cycles());
        same($was, gc_enabled());
    }

    public function theLargestIsThatSinceTheLastReading(): void
    {
        $folder = Folder::make();
        putenv("TALLY_FILE=$folder/tally.json");
        try {
            same(null, Tally::read()['held_bytes']);
            Tally::add(Items::make(20_000, true));
            Tally::add(Items::make(20_000, false));
            $first = Tally::read();
            same(3, $first['collections']);
            same(true, $first['longest_ns'] > 0 && $first['collection_ns'] >= $first['longest_ns']);
            same(true, $first['held_bytes'] >= $first['used_bytes'] && $first['used_bytes'] > 0);
            $second = Tally::read();
            same([3, null, null], [$second['collections'], $second['longest_ns'], $second['held_bytes']]);
        } finally {
            putenv('TALLY_FILE');
            Folder::remove($folder);
        }
    }
}
