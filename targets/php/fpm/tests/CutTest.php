<?php

declare(strict_types=1);

/*
 * The cuts of public/index.php: a step that cannot work shows which cuts come after it.
 */

namespace Prony\Fpm\Tests;

use Prony\Config;
use Prony\Fpm\Settings;

final class CutTest
{
    private const PING = '{"code":0,"msg":"ok","data":{}}';

    /** @return list<string> the cuts that answer with that folder as the cached configuration */
    private static function answering(string $cache): array
    {
        $answers = fn (string $cut): bool => self::get('/ping', $cut, $cache) === self::PING;
        return array_values(array_filter(Settings::CUTS, $answers));
    }

    /** Runs the front controller once; the command line's PHP puts the environment into $_SERVER. */
    private static function get(string $path, string $cut, string $cache): string
    {
        $environment = ['REQUEST_URI' => $path, 'REQUEST_METHOD' => 'GET', 'CUT' => $cut,
            'CONFIG' => 'cached', 'CONFIG_CACHE' => $cache];
        $settings = ['-d', 'variables_order=EGPCS', '-d', 'display_errors=0'];
        $command = [PHP_BINARY, ...$settings, dirname(__DIR__) . '/public/index.php'];
        $outputs = [1 => ['pipe', 'w'], 2 => ['file', '/dev/null', 'w']];
        $process = proc_open($command, $outputs, $pipes, null, $environment);
        $answer = (string) stream_get_contents($pipes[1]);
        proc_close($process);
        return $answer;
    }

    public function eachCutHasItsStepsBehindIt(): void
    {
        $folder = Folder::make();
        try {
            same(['entry', 'parsed-request', 'autoload'], self::answering($folder));
            Config::writeCache($folder);
            same(Settings::CUTS, self::answering($folder));
            unlink("$folder/base.php");
            same(['entry', 'parsed-request', 'autoload', 'project-config'], self::answering($folder));
        } finally {
            Folder::remove($folder);
        }
    }

    public function otherPathsAreNeverCut(): void
    {
        $folder = Folder::make();
        try {
            Config::writeCache($folder);
            same('{"status":"ok"}', self::get('/health', 'entry', $folder));
        } finally {
            Folder::remove($folder);
        }
    }
}
