<?php

declare(strict_types=1);

/*
 * Where the gRPC backend is, as nginx is configured.
 */

namespace Prony\Fpm;

use Prony\Variables;
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
        if (in_array('', array_map($read->text(...), ['GRPC_HOST', 'GRPC_PORT', 'GRPC_CA_FILE']), true)) {
            return null;
        }
        $allowed = 'an absolute path without blanks and quotes';
        $file = $read->matching('GRPC_CA_FILE', '#\A/[^"\'\\\\\s$;{}]+\z#', '', $allowed);
        if (!is_readable($file)) {
            throw new RuntimeException("GRPC_CA_FILE=$file cannot be read");
        }
        return new self(
            $read->matching('GRPC_HOST', '/\A[A-Za-z0-9.-]+\z/', '', 'a host name or an IPv4 address'),
            (int) $read->matching('GRPC_PORT', '/\A[1-9][0-9]{0,4}\z/', '', 'a port'),
            $file,
        );
    }

    /**
     * The name that the certificate must have.
     *
     * Nginx cannot check addresses, so loopback's is checked as localhost.
     */
    public function certificateName(): string
    {
        return str_starts_with($this->host, '127.') ? 'localhost' : $this->host;
    }
}
