<?php

declare(strict_types=1);

/*
 * All tests of this target and of ../common: `php tests/run.php`. Exit status 1 when one fails.
 *
 * Plain PHP, because Debian's phpunit would bring some 40 packages for these few checks. What needs nginx, FPM or a
 * service is proven by `prony targets check`.
 */

use Prony\Autoloader;

require __DIR__ . '/../../common/src/Autoloader.php';
(new Autoloader([
    'Prony\\Fpm\\Tests\\' => __DIR__,
    'Prony\\Fpm\\' => __DIR__ . '/../src',
    'Prony\\' => __DIR__ . '/../../common/src',
]))->register();

/** Fails unless the two are identical. */
function same(mixed $right, mixed $found): void
{
    if ($right !== $found) {
        throw new RuntimeException('expected ' . var_export($right, true) . ', found ' . var_export($found, true));
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

$failed = 0;
foreach (['RouterTest', 'JwtTest', 'CodecTest', 'ConfigTest', 'SettingsTest', 'CutTest'] as $name) {
    $class = 'Prony\\Fpm\\Tests\\' . $name;
    foreach (get_class_methods($class) as $method) {
        try {
            (new $class())->$method();
            echo "ok   $name $method\n";
        } catch (Throwable $error) {
            $failed++;
            echo "FAIL $name $method: {$error->getMessage()} ({$error->getFile()}:{$error->getLine()})\n";
        }
    }
}
exit($failed === 0 ? 0 : 1);
