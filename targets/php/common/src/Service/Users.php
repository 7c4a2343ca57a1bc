<?php

declare(strict_types=1);

/*
 * The table `users`, through PDO.
 *
 * Invariants: values reach the server as parameters only; a failing database is 503.
 */

namespace Prony\Service;

use Closure;
use PDO;
use PDOException;
use PDOStatement;
use Prony\Http\HttpError;

final class Users
{
    public const COUNT = 100_000;

    private const COLUMNS = 'SELECT id, name, email, age, active, score FROM users WHERE ';

    /** @param Pool<PDO> $pool */
    public function __construct(private readonly Pool $pool)
    {
    }

    /** One connection with the settings that all targets of this language share. */
    public static function connect(bool $persistent): PDO
    {
        $host = getenv('MARIADB_HOST');
        if ($host === false || $host === '') {
            throw HttpError::unavailable('no database: MARIADB_HOST is not set');
        }
        [$port, $database] = [(int) getenv('MARIADB_PORT'), (string) getenv('MARIADB_DATABASE')];
        $dsn = "mysql:host=$host;port=$port;dbname=$database;charset=utf8mb4";
        return new PDO($dsn, (string) getenv('MARIADB_USER'), (string) getenv('MARIADB_PASSWORD'), [
            PDO::ATTR_PERSISTENT => $persistent,
            PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
            PDO::ATTR_EMULATE_PREPARES => false,
            // Seconds; mysqlnd knows no smaller unit.
            PDO::ATTR_TIMEOUT => 1,
        ]);
    }

    /**
     * @return array<string, mixed>
     * @throws HttpError 404, 503
     */
    public function byId(int $id): array
    {
        return $this->query(fn (PDO $db) => self::one($db->prepare(self::COLUMNS . 'id = ?'), $id));
    }

    /**
     * The users id, id+1 …, after the last comes the first; one statement each.
     *
     * @return list<array<string, mixed>>
     */
    public function following(int $id, int $count): array
    {
        return $this->query(function (PDO $db) use ($id, $count): array {
            $statement = $db->prepare(self::COLUMNS . 'id = ?');
            $users = [];
            for ($k = 0; $k < $count; $k++) {
                $users[] = self::one($statement, $k === 0 ? $id : ($id + $k - 1) % self::COUNT + 1);
            }
            return $users;
        });
    }

    /** @return list<array<string, mixed>> all of that name, read without an index */
    public function byName(string $name): array
    {
        return $this->query(function (PDO $db) use ($name): array {
            $statement = $db->prepare(self::COLUMNS . 'name = ?');
            $statement->execute([$name]);
            return array_map(self::user(...), $statement->fetchAll());
        });
    }

    /** Asks the server for a sign of life. */
    public function ping(): void
    {
        $this->query(fn (PDO $db) => $db->query('SELECT 1')->fetchAll());
    }

    private function query(Closure $use): mixed
    {
        try {
            return $this->pool->with($use);
        } catch (PDOException $error) {
            throw HttpError::unavailable('the database does not answer', $error);
        }
    }

    /** @return array<string, mixed> */
    private static function one(PDOStatement $statement, int $id): array
    {
        $statement->execute([$id]);
        $rows = $statement->fetchAll();
        return $rows === [] ? throw HttpError::notFound('no such user') : self::user($rows[0]);
    }

    /**
     * @param array<string, mixed> $row
     * @return array<string, mixed>
     */
    private static function user(array $row): array
    {
        return [
            'id' => (int) $row['id'],
            'name' => $row['name'],
            'email' => $row['email'],
            'age' => (int) $row['age'],
            'active' => (bool) (int) $row['active'],
            'score' => (int) $row['score'],
        ];
    }
}
