<?php

declare(strict_types=1);

/*
 * Runs nginx and FPM until a stop signal, or until one of them ends by itself.
 *
 * Invariants: signals are taken in one place, by waiting for them; nginx stops first, since its requests need
 * FPM; whatever happens, both groups are gone and the run's folder is removed at the end.
 */

namespace Prony\Fpm;

use RuntimeException;

final class Launcher
{
    private const SIGNALS = [SIGTERM, SIGINT, SIGQUIT, SIGUSR2, SIGCHLD];
    /** The version that Debian 12 packages; whichever the host has will do where none is asked for. */
    private const VERSION = '8.2';
    /** The first nginx that takes both versions of HTTP on one port without TLS. */
    private const HTTP2_SINCE = '1.25.1';
    private const SOCKET_SECONDS = 5;
    /** For both together; prony's own limit is 6 s. */
    private const STOP_SECONDS = 5.0;

    private readonly string $folder;
    private ?Child $fpm = null;
    private ?Child $nginx = null;

    public function __construct(private readonly Settings $settings)
    {
        $this->folder = sys_get_temp_dir() . '/prony-php-fpm-' . bin2hex(random_bytes(6));
    }

    /** @throws RuntimeException where something cannot start or ends by itself */
    public function run(): void
    {
        $programs = [self::fpm($this->settings->version), self::find('apt-get install nginx-light', 'nginx')];
        if ($this->settings->http2) {
            self::demandHttp2((string) shell_exec(escapeshellarg($programs[1]) . ' -v 2>&1'));
        }
        pcntl_sigprocmask(SIG_BLOCK, self::SIGNALS);
        if (!mkdir($this->folder, 0o700)) {
            throw new RuntimeException("cannot make the folder $this->folder");
        }
        try {
            (new Files($this->settings, $this->folder))->write();
            $this->start(...$programs);
            $this->serve();
            $this->stop();
        } finally {
            $this->fpm?->killGroup();
            $this->nginx?->killGroup();
            $this->removeFolder($this->folder);
        }
    }

    private function start(string $fpm, string $nginx): void
    {
        $own = ['PHP_INI_SCAN_DIR' => $this->iniFolders(), 'TALLY_FILE' => "$this->folder/tally.json"];
        if ($this->settings->requestTimes) {
            $own['TIMES_FILE'] = "$this->folder/times.bin";
        }
        $environment = $own + getenv();
        if ($this->settings->backend !== null) {
            $environment['GRPC_SOCKET'] = "$this->folder/grpc.sock";
        }
        $root = posix_geteuid() === 0 ? ['-R'] : [];
        $files = ['-c', "$this->folder/php.ini", '-y', "$this->folder/php-fpm.conf"];
        $arguments = ['-F', '-O', ...$root, ...$files];
        $this->fpm = Child::start('php-fpm', $fpm, $arguments, $environment);
        $this->waitForSocket("$this->folder/fpm.sock");
        $arguments = ['-p', $this->folder, '-c', "$this->folder/nginx.conf", '-e', 'stderr'];
        $this->nginx = Child::start('nginx', $nginx, $arguments, $environment);
    }

    /** Of the system's ini files, which an empty part stands for, FPM reads none; of a profiler those it is given. */
    private function iniFolders(): string
    {
        $given = $this->settings->excimer ? explode(':', (string) getenv('PHP_INI_SCAN_DIR')) : [];
        return implode(':', array_filter($given, fn (string $folder): bool => $folder !== ''));
    }

    /** Nginx would answer 502 before FPM listens. */
    private function waitForSocket(string $path): void
    {
        for ($waited = 0; !file_exists($path); $waited++) {
            $this->demandRunning($this->fpm);
            if ($waited === self::SOCKET_SECONDS * 100) {
                throw new RuntimeException('php-fpm did not listen within ' . self::SOCKET_SECONDS . ' s');
            }
            usleep(10_000);
            clearstatcache(true, $path);
        }
    }

    private function serve(): void
    {
        while (true) {
            $this->demandRunning($this->fpm);
            $this->demandRunning($this->nginx);
            $signal = pcntl_sigwaitinfo(self::SIGNALS);
            if (in_array($signal, [SIGTERM, SIGINT, SIGQUIT], true)) {
                return;
            }
            if ($signal === SIGUSR2) {
                $this->fpm->signal(SIGUSR2);
                $this->nginx->signal(SIGHUP);
            }
        }
    }

    private function stop(): void
    {
        $until = microtime(true) + self::STOP_SECONDS;
        foreach ([$this->nginx, $this->fpm] as $child) {
            $child->signal(SIGQUIT);
            while ($child->end() === null) {
                $left = $until - microtime(true);
                if ($left <= 0) {
                    $limit = self::STOP_SECONDS;
                    throw new RuntimeException("$child->name did not stop within $limit s and was killed");
                }
                pcntl_sigtimedwait(self::SIGNALS, $info, (int) $left, (int) (fmod($left, 1) * 1e9));
            }
        }
    }

    private function demandRunning(Child $child): void
    {
        if ($child->end() !== null) {
            throw new RuntimeException("$child->name {$child->end()}; its messages stand above");
        }
    }

    private function removeFolder(string $folder): void
    {
        foreach (array_diff(scandir($folder) ?: [], ['.', '..']) as $name) {
            $path = "$folder/$name";
            is_dir($path) && !is_link($path) ? $this->removeFolder($path) : unlink($path);
        }
        rmdir($folder);
    }

    /** FPM of that version, and no other in its place; empty: the usual one. */
    private static function fpm(string $version): string
    {
        $wanted = $version === '' ? self::VERSION : $version;
        $install = "apt-get install php$wanted-fpm php$wanted-mysql php-redis php$wanted-curl";
        $names = $version === '' ? ["php-fpm$wanted", 'php-fpm'] : ["php-fpm$wanted"];
        return self::find($install, ...$names);
    }

    /**
     * @param string $said what `nginx -v` says
     * @throws RuntimeException where that nginx takes one version of HTTP on a port
     */
    public static function demandHttp2(string $said): void
    {
        $version = preg_match('~nginx/([0-9.]+)~', $said, $found) === 1 ? $found[1] : 'an unknown version';
        if (!isset($found[1]) || version_compare($version, self::HTTP2_SINCE, '<')) {
            $needed = self::HTTP2_SINCE;
            throw new RuntimeException(
                "http2 needs nginx $needed or later, which takes both versions of HTTP on one port, and this is $version:"
                . ' take it from Debian 13, Ubuntu 24.10 or nginx.org, or leave http2 off'
            );
        }
    }

    private static function find(string $install, string ...$names): string
    {
        // /usr/sbin is not in everyone's PATH.
        $folders = [...explode(':', (string) getenv('PATH')), '/usr/sbin', '/usr/local/sbin'];
        foreach ($names as $name) {
            foreach ($folders as $folder) {
                if (is_executable("$folder/$name") && !is_dir("$folder/$name")) {
                    return "$folder/$name";
                }
            }
        }
        throw new RuntimeException("$names[0] is not installed: $install");
    }
}
