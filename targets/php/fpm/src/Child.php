<?php

declare(strict_types=1);

/*
 * A program that runs in the foreground as a child, in a process group of its own.
 *
 * Invariant: a signal to the launcher's group (Ctrl-C) does not reach it, so that the launcher decides the
 * order.
 */

namespace Prony\Fpm;

use RuntimeException;

final class Child
{
    private ?string $end = null;

    private function __construct(public readonly string $name, private readonly int $pid)
    {
    }

    /**
     * @param list<string> $arguments
     * @param array<string, string> $environment
     */
    public static function start(string $name, string $program, array $arguments, array $environment): self
    {
        $pid = pcntl_fork();
        if ($pid === -1) {
            throw new RuntimeException("cannot fork for $name: " . pcntl_strerror(pcntl_get_last_error()));
        }
        if ($pid === 0) {
            posix_setpgid(0, 0);
            // Blocked signals stay blocked over exec.
            pcntl_sigprocmask(SIG_SETMASK, []);
            pcntl_exec($program, $arguments, $environment);
            fwrite(STDERR, "php/fpm: cannot run $program\n");
            // Not `exit`, which would run the launcher's own clean-up.
            posix_kill(posix_getpid(), SIGKILL);
        }
        // Both sides set it, so that it holds whoever comes first.
        @posix_setpgid($pid, $pid);
        return new self($name, $pid);
    }

    /** Why it ended; null while it runs. */
    public function end(): ?string
    {
        if ($this->end === null && pcntl_waitpid($this->pid, $status, WNOHANG) === $this->pid) {
            $this->end = pcntl_wifsignaled($status)
                ? 'killed by signal ' . pcntl_wtermsig($status)
                : 'ended with status ' . pcntl_wexitstatus($status);
        }
        return $this->end;
    }

    public function signal(int $signal): void
    {
        if ($this->end() === null) {
            posix_kill($this->pid, $signal);
        }
    }

    /** Kills what is left of its group. */
    public function killGroup(): void
    {
        @posix_kill(-$this->pid, SIGKILL);
    }
}
