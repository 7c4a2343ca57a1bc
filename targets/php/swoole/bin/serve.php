<?php

declare(strict_types=1);

/*
 * Serves until TERM; USR1 restarts the workers. README.md lists the variables.
 *
 * Exit status: 0 after a stop signal, 1 with the reason on stderr otherwise.
 */

use Prony\Autoloader;
use Prony\Swoole\Server;
use Prony\Swoole\Settings;

require __DIR__ . '/../../common/src/Autoloader.php';
(new Autoloader([
    'Prony\\Swoole\\' => __DIR__ . '/../src',
    'Prony\\' => __DIR__ . '/../../common/src',
]))->register();

try {
    extension_loaded('swoole')
        || throw new RuntimeException('the extension swoole is not loaded; README.md says how to install it');
    (new Server(Settings::fromEnvironment(getenv())))->run();
} catch (Throwable $error) {
    fwrite(STDERR, 'php/swoole: ' . $error->getMessage() . "\n");
    exit(1);
}
