<?php

declare(strict_types=1);

/*
 * Short-lived objects: none is lost, those that point at themselves are collected, and what was counted is told once.
 */

namespace Prony\Fpm\Tests;

use Prony\Items;
use Prony\Tally;

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
