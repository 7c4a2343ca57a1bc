<?php
// Put before every request by prony while it takes profiles: samples the
// request and, while the gate is open, adds its stacks to a file of this
// process.
declare(strict_types=1);

// Runs when the script has ended. Its name is in the profile: what passed
// since the last call of the script, waiting for a CPU included, is booked here.
function prony_end_of_script(ExcimerProfiler $profiler, string $folder): void
{
    $profiler->stop();
    $stacks = $profiler->getLog()->formatCollapsed();
    if ($stacks !== '' && is_file("$folder/open")) {
        @file_put_contents("$folder/stacks/" . getmypid() . '.folded', $stacks, FILE_APPEND);
    }
}

(static function (): void {
    $folder = '{folder}';
    if (!class_exists('ExcimerProfiler') || !is_file("$folder/open")) {
        return;
    }
    $profiler = new ExcimerProfiler();
    $profiler->setPeriod(0.002);
    $profiler->setEventType(EXCIMER_REAL);
    $profiler->start();
    register_shutdown_function('prony_end_of_script', $profiler, $folder);
})();
