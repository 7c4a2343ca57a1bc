<?php

declare(strict_types=1);

/*
 * What the routes need, made when it is first asked for.
 *
 * Invariant: how connections are kept is decided by the pools that are given, one for each kind.
 */

namespace Prony\Service;

use Closure;
use Prony\Config;
use Prony\Http\HttpError;

final class Services
{
    private const ORDER_STEPS = 3;
    private const ORDER_STEP_MS = 5;

    private ?Users $users = null;
    private ?Cache $cache = null;
    private ?GrpcRecords $grpc = null;
    private ?Backend $backend = null;
    private ?Jwt $jwt = null;

    /**
     * @param Closure(Closure(): object, string): Pool<object> $pool makes a pool of a connector and its kind
     * @param Closure(string): void|null $log takes a line of the log layer; default: appends to ACCESS_LOG
     * @param Closure(int): void|null $order takes an order to be followed later; default: it is followed at once
     */
    public function __construct(
        private readonly Config $config,
        private readonly Closure $pool,
        private readonly bool $databasePersistent = false,
        private readonly bool $cachePersistent = false,
        private readonly ?Closure $log = null,
        private readonly ?Closure $order = null,
    ) {
    }

    /** For a process that serves one request at a time; persistent connections outlive the request. */
    public static function single(Config $config): self
    {
        return new self(
            $config,
            fn (Closure $connect) => new Single($connect),
            databasePersistent: getenv('DB_PERSISTENT') !== 'false',
            cachePersistent: getenv('CACHE_PERSISTENT') !== 'false',
        );
    }

    public function users(): Users
    {
        $connect = fn () => Users::connect($this->databasePersistent);
        return $this->users ??= new Users(($this->pool)($connect, 'database'));
    }

    public function cache(): Cache
    {
        $life = (int) $this->config->project('cache', 'redis', 'life_seconds');
        $connect = fn () => Cache::connect($this->cachePersistent);
        return $this->cache ??= new Cache(($this->pool)($connect, 'cache'), $life);
    }

    public function grpc(): GrpcRecords
    {
        return $this->grpc ??= new GrpcRecords(($this->pool)(GrpcRecords::connect(...), 'grpc'));
    }

    public function backend(): Backend
    {
        return $this->backend ??= new Backend(($this->pool)(Backend::connect(...), 'backend'));
    }

    public function jwt(): Jwt
    {
        return $this->jwt ??= new Jwt(getenv('JWT_SECRET') ?: 'prony-contract-secret', time(...));
    }

    /** Appends one line to the log of the log layer. */
    public function log(string $line): void
    {
        if ($this->log !== null) {
            ($this->log)($line);
            return;
        }
        self::append($line);
    }

    /**
     * Takes an order.
     *
     * @throws HttpError 503 where it cannot be followed, or no queue takes it
     */
    public function order(int $id): void
    {
        $this->order === null ? $this->follow() : ($this->order)($id);
    }

    /**
     * The steps that follow an order: stock, invoice and message.
     *
     * @throws HttpError 503
     */
    public function follow(): void
    {
        for ($step = 0; $step < self::ORDER_STEPS; $step++) {
            $this->backend()->records(1, self::ORDER_STEP_MS);
        }
    }

    public static function append(string $line): void
    {
        file_put_contents(getenv('ACCESS_LOG') ?: '/dev/null', $line . "\n", FILE_APPEND);
    }

    /**
     * Reaches every service that the environment names.
     *
     * @throws HttpError 503
     */
    public function reach(): void
    {
        foreach (['MARIADB_HOST' => 'users', 'REDIS_HOST' => 'cache'] as $variable => $service) {
            if ((string) getenv($variable) !== '') {
                $this->$service()->ping();
            }
        }
        if ((string) getenv('GRPC_HOST') !== '') {
            $this->grpc()->list(1);
        }
        if ((string) getenv('BACKEND_HOST') !== '') {
            $this->backend()->records(1);
        }
    }
}
