<?php

declare(strict_types=1);

/*
 * What a task worker does: it writes a line of the log, or follows an order, one task at a time.
 *
 * Absent on purpose: an answer to the worker that sent the task, which nobody waits for. An order that cannot be
 * followed is written to the server's log.
 */

namespace Prony\Swoole;

use Prony\Config;
use Prony\Http\HttpError;
use Prony\Service\Services;

final class Tasks
{
    private readonly Services $services;

    public function __construct()
    {
        $this->services = Services::single(Config::parsed());
    }

    /** @param string|int $task a line, or the number of an order */
    public function do(string|int $task): void
    {
        if (is_string($task)) {
            Services::append($task);
            return;
        }
        try {
            $this->services->follow();
        } catch (HttpError $error) {
            error_log("order $task was not followed: " . $error->getMessage());
        }
    }
}
