<?php

declare(strict_types=1);

/*
 * A folder of files that a test makes and removes.
 */

namespace Prony\Fpm\Tests;

final class Folder
{
    public static function make(): string
    {
        $folder = sys_get_temp_dir() . '/prony-php-test-' . bin2hex(random_bytes(6));
        mkdir($folder, 0o700);
        return $folder;
    }

    public static function remove(string $folder): void
    {
        array_map(unlink(...), glob("$folder/*") ?: []);
        rmdir($folder);
    }
}
