<?php

declare(strict_types=1);

/*
 * One of the objects of /allocate/{n}: two numbers, and a place for itself.
 */

namespace Prony;

final class Item
{
    public ?Item $self = null;

    public function __construct(public readonly int $number, public readonly int $square)
    {
    }
}
