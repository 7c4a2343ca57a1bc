<?php

declare(strict_types=1);

/*
 * The process that starts the workers: what it listens to, and that it leaves the application to them.
 */

namespace Prony\Swoole\Tests;

final class MasterTest
{
    private const CLASSES = ['class Prony\Autoloader', 'class Prony\Swoole\Server',
        'class Prony\Swoole\Settings', 'class Prony\Variables'];

    public function aClassThatIsLoadedHereWouldNeverBeReloaded(): void
    {
        $classes = array_values(preg_grep('/^class/', self::run('0')));
        sort($classes);
        same(self::CLASSES, $classes);
    }

    public function tasksAreTakenOnlyWhereThereAreTaskWorkers(): void
    {
        same(['on WorkerStart', 'on Request'], preg_grep('/^on/', self::run('0')));
        same(['on WorkerStart', 'on Request', 'on Task', 'on Finish'], preg_grep('/^on/', self::run('2')));
    }

    /** @return list<string> the lines of master.php; -n keeps the extension away from the stubs */
    private static function run(string $taskWorkers): array
    {
        $environment = ['LISTEN' => '127.0.0.1:8080', 'SWOOLE_TASK_WORKERS' => $taskWorkers];
        $outputs = [1 => ['pipe', 'w']];
        $command = [PHP_BINARY, '-n', __DIR__ . '/master.php'];
        $process = proc_open($command, $outputs, $pipes, null, $environment);
        $lines = explode("\n", trim((string) stream_get_contents($pipes[1])));
        proc_close($process);
        return $lines;
    }
}
