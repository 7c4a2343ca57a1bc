<?php

declare(strict_types=1);

/*
 * All tests of this target and of ../common: `php tests/run.php`. Exit status 1 when one fails.
 *
 * What needs nginx, FPM or a service is proven by `prony targets check`.
 */

namespace Prony\Fpm\Tests;

use Prony\Autoloader;

require __DIR__ . '/../../common/tests/harness.php';
require __DIR__ . '/../../common/src/Autoloader.php';
(new Autoloader([
    'Prony\\Fpm\\Tests\\' => __DIR__,
    'Prony\\Fpm\\' => __DIR__ . '/../src',
    'Prony\\' => __DIR__ . '/../../common/src',
]))->register();

runTests([
    RouterTest::class,
    JwtTest::class,
    CodecTest::class,
    ConfigTest::class,
    SettingsTest::class,
    CutTest::class,
    ItemsTest::class,
]);
