<?php

declare(strict_types=1);

/*
 * PSR-4 autoloading, written out because Composer's packages are not needed here.
 *
 * Invariant: a prefix maps to one folder, and a class file is loaded at most once.
 * Absent on purpose: class maps and fallback folders.
 */

namespace Prony;

final class Autoloader
{
    /** @param array<string, string> $folders namespace prefix with its closing backslash => folder */
    public function __construct(private readonly array $folders)
    {
    }

    public function register(): void
    {
        spl_autoload_register($this->load(...));
    }

    private function load(string $class): void
    {
        foreach ($this->folders as $prefix => $folder) {
            if (!str_starts_with($class, $prefix)) {
                continue;
            }
            $file = $folder . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            if (is_file($file)) {
                require $file;
                return;
            }
        }
    }
}
