<?php

declare(strict_types=1);

/*
 * Serves until TERM, INT or QUIT: starts FPM and nginx in the foreground and ends them. README.md lists the
 * variables.
 *
 * Exit status: 0 after a stop signal, 1 with the reason on stderr otherwise.
 */

use Prony\Autoloader;
use Prony\Fpm\Launcher;
use Prony\Fpm\Settings;

require __DIR__ . '/../../common/src/Autoloader.php';
(new Autoloader([
    'Prony\\Fpm\\' => __DIR__ . '/../src',
    'Prony\\' => __DIR__ . '/../../common/src',
]))->register();

try {
    foreach (['pcntl', 'posix'] as $extension) {
        extension_loaded($extension)
            || throw new RuntimeException("the extension $extension is missing: apt-get install php8.2-cli");
    }
    (new Launcher(Settings::fromEnvironment(getenv())))->run();
} catch (Throwable $error) {
    fwrite(STDERR, 'php/fpm: ' . $error->getMessage() . "\n");
    exit(1);
}
