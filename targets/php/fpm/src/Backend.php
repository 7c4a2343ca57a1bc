<?php

declare(strict_types=1);

/*
 * Where the gRPC backend is, as nginx is told.
 */

namespace Prony\Fpm;

use RuntimeException;

final class Backend
{
    private function __construct(
        public readonly string $host,
        public readonly int $port,
        public readonly string $authorityFile,
    ) {
    }

    /** Null where the environment does not name all of it; the route then answers 503. */
    public static function fromEnvironment(Variables $read): ?self
    {
        if (in_array('', [$read->text('GRPC_HOST'), $read->text('GRPC_PORT'), $read->text('GRPC_CA_FILE')], true)) {
            return null;
        }
        $file = $read->matching('GRPC_CA_FILE', '#\A/[^"\'\\\\\s$;{}]+\z#', '', 'an absolute path without blanks and quotes');
        if (!is_readable($file)) {
            throw new RuntimeException("GRPC_CA_FILE=$file cannot be read");
        }
        return new self(
            $read->matching('GRPC_HOST', '/\A[A-Za-z0-9.-]+\z/', '', 'a host name or an IPv4 address'),
            (int) $read->matching('GRPC_PORT', '/\A[1-9][0-9]{0,4}\z/', '', 'a port'),
            $file,
        );
    }

    /** The name that the certificate must have: nginx cannot check addresses, so loopback's is checked as localhost. */
    public function certificateName(): string
    {
        return str_starts_with($this->host, '127.') ? 'localhost' : $this->host;
    }
}
