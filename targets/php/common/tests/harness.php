<?php

declare(strict_types=1);

/*
 * What tests of the PHP targets are written with, and what runs them: a public method of a class is a test.
 *
 * Plain PHP, because Debian's phpunit would bring some 40 packages for these few checks.
 */

/** Fails unless the two are identical. */
function same(mixed $right, mixed $found): void
{
    if ($right !== $found) {
        [$right, $found] = [var_export($right, true), var_export($found, true)];
        throw new RuntimeException("expected $right, found $found");
    }
}

/** Fails unless $call throws that class (and that HTTP status). */
function refuses(string $class, callable $call, ?int $status = null): void
{
    try {
        $call();
    } catch (Throwable $error) {
        same($class, $error::class);
        $status === null || same($status, $error->getCode());
        return;
    }
    throw new RuntimeException("nothing was refused, $class was expected");
}

/**
 * Runs all tests of the classes and ends: with status 1 when one failed.
 *
 * @param list<class-string> $classes
 */
function runTests(array $classes): never
{
    $failed = 0;
    foreach ($classes as $class) {
        foreach (get_class_methods($class) as $method) {
            $name = substr((string) strrchr($class, '\\'), 1) . " $method";
            try {
                (new $class())->$method();
                echo "ok   $name\n";
            } catch (Throwable $error) {
                $failed++;
                echo "FAIL $name: {$error->getMessage()} ({$error->getFile()}:{$error->getLine()})\n";
            }
        }
    }
    exit($failed === 0 ? 0 : 1);
}
