<?php

declare(strict_types=1);

/*
 * Reads variables of an environment and refuses what is not allowed; an empty one is as one that is not set.
 */

namespace Prony;

use RuntimeException;

final class Variables
{
    /** @param array<string, string> $values */
    public function __construct(private readonly array $values)
    {
    }

    public function text(string $name): string
    {
        return $this->values[$name] ?? '';
    }

    public function matching(string $name, string $pattern, string $default, string $allowed): string
    {
        $value = $this->text($name) === '' ? $default : $this->text($name);
        if (preg_match($pattern, $value) !== 1) {
            throw new RuntimeException("$name=$value is not allowed: write $allowed");
        }
        return $value;
    }

    /** @param list<string> $allowed */
    public function choice(string $name, array $allowed, string $default): string
    {
        $pattern = '/\A(' . implode('|', array_map(preg_quote(...), $allowed)) . ')\z/';
        return $this->matching($name, $pattern, $default, 'one of ' . implode(', ', $allowed));
    }

    public function bool(string $name, bool $default): bool
    {
        return $this->choice($name, ['true', 'false'], $default ? 'true' : 'false') === 'true';
    }

    /** host:port; port 0 is refused because nobody would learn which one was given. */
    public function listen(string $name): string
    {
        $pattern = '/\A([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[1-9][0-9]{0,4}\z/';
        return $this->matching($name, $pattern, '', 'host:port, port not 0');
    }
}
