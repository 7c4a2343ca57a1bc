<?php

declare(strict_types=1);

/*
 * How long requests took by the target's own clock, as a histogram in Prometheus' text format, so that prony can hold
 * its 95th percentile against the target's. All processes add to the file $TIMES_FILE; without the variable nothing
 * is timed.
 *
 * Invariant: one process at a time changes the file. The clock begins when PHP takes the request: the wait for a free
 * process is not seen.
 */

namespace Prony;

use RuntimeException;

final class Times
{
    private const NAME = 'http_request_duration_seconds';
    /** Two an octave, from 10 us to more than 10 s; the last bucket has none. */
    private const BOUNDS = 41;

    public static function isOn(): bool
    {
        return (string) getenv('TIMES_FILE') !== '';
    }

    public static function add(float $seconds): void
    {
        $at = 0;
        while ($at < self::BOUNDS && self::bound($at) < $seconds) {
            $at++;
        }
        self::change(function (array $buckets) use ($at): array {
            $buckets[$at]++;
            return $buckets;
        });
    }

    public static function text(): string
    {
        $text = '# TYPE ' . self::NAME . " histogram\n";
        $below = 0;
        foreach (self::change(fn (array $buckets): array => $buckets) as $k => $count) {
            $below += $count;
            $bound = $k < self::BOUNDS ? json_encode(self::bound($k)) : '+Inf';
            $text .= self::NAME . "_bucket{le=\"$bound\"} $below\n";
        }
        return $text . self::NAME . "_count $below\n";
    }

    private static function bound(int $k): float
    {
        return 1e-5 * 2 ** ($k / 2);
    }

    /**
     * @param callable(list<int>): list<int> $change
     * @return list<int> the buckets afterwards
     */
    private static function change(callable $change): array
    {
        $path = (string) getenv('TIMES_FILE');
        $file = fopen($path, 'c+b');
        if ($file === false || !flock($file, LOCK_EX)) {
            throw new RuntimeException("TIMES_FILE=$path cannot be written");
        }
        $bytes = (string) stream_get_contents($file);
        $none = array_fill(0, self::BOUNDS + 1, 0);
        $buckets = $change($bytes === '' ? $none : array_values((array) unpack('P*', $bytes)));
        rewind($file);
        fwrite($file, pack('P*', ...$buckets));
        // Closing lets the next one in.
        fclose($file);
        return $buckets;
    }
}
