<?php

declare(strict_types=1);

/*
 * Makes objects that live for a moment each: the last 1,024 are held, and each number is read back when its object
 * is let go.
 *
 * PHP counts references and frees most objects at once; only those that point at themselves wait for its collector,
 * which no version before 8.3 times. So it is switched off here and called after as many of them as it waits for
 * itself, with a clock around each call.
 */

namespace Prony;

final class Items
{
    private const HELD = 1024;
    /** Objects that the collector waits for: GC_THRESHOLD_DEFAULT of Zend/zend_gc.c, less the one it keeps. */
    private const THRESHOLD = 10_000;

    public int $sum = 0;
    public int $collections = 0;
    public int $collectionNs = 0;
    public int $longestNs = 0;

    private function __construct(public readonly int $count)
    {
    }

    public static function make(int $count, bool $cycles): self
    {
        $made = new self($count);
        memory_reset_peak_usage();
        if ($cycles) {
            $wasOn = gc_enabled();
            gc_disable();
            $made->cyclic();
            $wasOn && gc_enable();
        } else {
            $made->plain();
        }
        return $made;
    }

    private function plain(): void
    {
        $ring = array_fill(0, self::HELD, null);
        $sum = 0;
        for ($k = 1; $k <= $this->count; $k++) {
            $place = $k % self::HELD;
            $sum += $ring[$place]?->number ?? 0;
            $ring[$place] = new Item($k, $k * $k);
        }
        $this->sum = $sum + self::left($ring);
    }

    private function cyclic(): void
    {
        $ring = array_fill(0, self::HELD, null);
        $sum = 0;
        for ($k = 1; $k <= $this->count; $k++) {
            $place = $k % self::HELD;
            $sum += $ring[$place]?->number ?? 0;
            $item = new Item($k, $k * $k);
            $item->self = $item;
            $ring[$place] = $item;
            if ($k % self::THRESHOLD === 0) {
                $this->collect();
            }
        }
        $this->sum = $sum + self::left($ring);
        unset($ring, $item);
        $this->collect();
    }

    private function collect(): void
    {
        $begun = hrtime(true);
        gc_collect_cycles();
        $took = hrtime(true) - $begun;
        $this->collections++;
        $this->collectionNs += $took;
        $this->longestNs = max($this->longestNs, $took);
    }

    /** @param array<int, ?Item> $ring */
    private static function left(array $ring): int
    {
        return array_sum(array_map(fn (?Item $item): int => $item?->number ?? 0, $ring));
    }
}
