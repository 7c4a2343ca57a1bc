<?php

declare(strict_types=1);

/*
 * Runs the server on the stubs up to its start, and prints which events it listens to and its classes.
 */

use Prony\Autoloader;
use Prony\Swoole\Server;
use Prony\Swoole\Settings;

require __DIR__ . '/stubs.php';
require __DIR__ . '/../../common/src/Autoloader.php';
(new Autoloader([
    'Prony\\Swoole\\' => __DIR__ . '/../src',
    'Prony\\' => __DIR__ . '/../../common/src',
]))->register();

(new Server(Settings::fromEnvironment(getenv())))->run();
foreach (get_declared_classes() as $class) {
    echo str_starts_with($class, 'Prony\\') ? "class $class\n" : '';
}
