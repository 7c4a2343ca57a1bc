<?php

declare(strict_types=1);

/*
 * The configuration: groups (`project`, `base`) of ini files, read each time (`parsed`) or from PHP array files
 * that `php bin/build.php` made of them ahead (`cached`).
 *
 * Invariants: both ways give equal arrays, file name => section => key => value; a missing group is an error.
 */

namespace Prony;

use RuntimeException;

final class Config
{
    public const SOURCE = __DIR__ . '/../config';
    public const GROUPS = ['project', 'base'];

    /** @var array<string, array<string, mixed>> */
    private array $groups = [];

    private function __construct(private readonly ?string $cacheFolder)
    {
    }

    /** Reads ini files each time. */
    public static function parsed(): self
    {
        return new self(null);
    }

    /** Reads the array files of a folder. */
    public static function cached(string $folder): self
    {
        return new self($folder);
    }

    /** As the variables CONFIG and CONFIG_CACHE say; the default is to parse. */
    public static function fromEnvironment(): self
    {
        return getenv('CONFIG') === 'cached' ? self::cached((string) getenv('CONFIG_CACHE')) : self::parsed();
    }

    /**
     * @return array<string, mixed>
     * @throws RuntimeException where the group cannot be read
     */
    public function load(string $group): array
    {
        return $this->groups[$group] ??= $this->cacheFolder === null
            ? self::parse($group)
            : self::readCache($this->cacheFolder . '/' . $group . '.php');
    }

    /** The value of a key of the project's configuration. */
    public function project(string $file, string $section, string $key): mixed
    {
        return $this->load('project')[$file][$section][$key]
            ?? throw new RuntimeException("config/project/$file.ini has no $key in [$section]; add it");
    }

    /** Writes the array files of all groups into a folder; files that are right already stay untouched. */
    public static function writeCache(string $folder): void
    {
        if (!is_dir($folder) && !mkdir($folder, 0o777, true)) {
            throw new RuntimeException("cannot make the folder $folder");
        }
        foreach (self::GROUPS as $group) {
            $file = $folder . '/' . $group . '.php';
            $text = "<?php\n\nreturn " . var_export(self::parse($group), true) . ";\n";
            if (!is_file($file) || file_get_contents($file) !== $text) {
                // Renamed into place so that a reader never sees half of it.
                file_put_contents($file . '.tmp', $text);
                rename($file . '.tmp', $file);
            }
        }
    }

    /** @return array<string, mixed> */
    private static function parse(string $group): array
    {
        $files = glob(self::SOURCE . '/' . $group . '/*.ini');
        if ($files === false || $files === []) {
            throw new RuntimeException("no ini files in config/$group");
        }
        $values = [];
        foreach ($files as $file) {
            $parsed = parse_ini_file($file, true, INI_SCANNER_TYPED);
            $values[basename($file, '.ini')] = $parsed !== false
                ? $parsed
                : throw new RuntimeException("$file is no ini file");
        }
        return $values;
    }

    /** @return array<string, mixed> */
    private static function readCache(string $file): array
    {
        if (!is_file($file)) {
            throw new RuntimeException("$file is missing: build the target first (php bin/build.php .build)");
        }
        return require $file;
    }
}
