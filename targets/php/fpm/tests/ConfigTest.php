<?php

declare(strict_types=1);

/*
 * The configuration: parsed and cached are equal, and what is missing is named.
 */

namespace Prony\Fpm\Tests;

use Prony\Config;
use RuntimeException;

final class ConfigTest
{
    public function parsedAndCachedAreEqual(): void
    {
        $folder = Folder::make();
        try {
            Config::writeCache($folder);
            foreach (Config::GROUPS as $group) {
                same(Config::parsed()->load($group), Config::cached($folder)->load($group));
            }
            same(1000, Config::cached($folder)->project('app', 'limits', 'count_max'));
        } finally {
            Folder::remove($folder);
        }
    }

    public function whatIsMissingIsRefused(): void
    {
        refuses(RuntimeException::class, fn () => Config::cached('/nonexistent')->load('base'));
        refuses(RuntimeException::class, fn () => Config::parsed()->load('nonexistent'));
        refuses(RuntimeException::class, fn () => Config::parsed()->project('app', 'limits', 'nonexistent'));
    }
}
