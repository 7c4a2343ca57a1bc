<?php

declare(strict_types=1);

/*
 * All tests of this target: `php tests/run.php`. Exit status 1 when one fails. Those of ../common are run by
 * ../fpm.
 *
 * They need no Swoole: without the extension its classes are stubs, and requests, responses, pools and
 * servers are fakes in any case. What only Swoole can show is proven by `prony targets check`.
 */

namespace Prony\Swoole\Tests;

use Prony\Autoloader;

require __DIR__ . '/../../common/tests/harness.php';
require __DIR__ . '/../../common/src/Autoloader.php';
if (!extension_loaded('swoole')) {
    require __DIR__ . '/stubs.php';
}
(new Autoloader([
    'Prony\\Swoole\\Tests\\' => __DIR__,
    'Prony\\Swoole\\' => __DIR__ . '/../src',
    'Prony\\' => __DIR__ . '/../../common/src',
]))->register();

// The services that a shell may name are not part of these tests.
array_map(putenv(...), ['MARIADB_HOST', 'REDIS_HOST', 'GRPC_HOST', 'BACKEND_HOST', 'JWT_SECRET', 'FILES_DIR', 'ACCESS_LOG']);

runTests([
    SettingsTest::class,
    PoolTest::class,
    WorkerTest::class,
    MasterTest::class,
]);
