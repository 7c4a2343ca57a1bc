<?php

declare(strict_types=1);

/*
 * Builds the target: writes the cached configuration below the folder that is given. `php bin/build.php
 * .build`
 */

use Prony\Autoloader;
use Prony\Config;

require __DIR__ . '/../../common/src/Autoloader.php';
(new Autoloader(['Prony\\' => __DIR__ . '/../../common/src']))->register();

if ($argc !== 2) {
    fwrite(STDERR, "usage: php bin/build.php FOLDER\n");
    exit(2);
}
Config::writeCache($argv[1] . '/config');
