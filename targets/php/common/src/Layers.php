<?php

declare(strict_types=1);

/*
 * The three layers of /middleware/{k}, each a function around the next: log, token, trace.
 */

namespace Prony;

use Closure;
use Prony\Http\HttpError;
use Prony\Http\Request;
use Prony\Http\Response;
use Prony\Service\Jwt;

final class Layers
{
    public const COUNT = 3;

    /** @param Closure(string): void $log takes one line */
    public function __construct(private readonly Jwt $jwt, private readonly Closure $log)
    {
    }

    /**
     * Wraps $inner into the first $count layers; the log is the outermost.
     *
     * @param Closure(Request): Response $inner
     * @return Closure(Request): Response
     */
    public function around(Closure $inner, int $count): Closure
    {
        $layers = array_slice([$this->log(...), $this->token(...), $this->trace(...)], 0, $count);
        foreach (array_reverse($layers) as $layer) {
            $inner = fn (Request $request): Response => $layer($request, $inner);
        }
        return $inner;
    }

    private function log(Request $request, Closure $next): Response
    {
        $began = hrtime(true);
        try {
            $response = $next($request);
        } catch (HttpError $error) {
            $response = Response::error($error->status, $error->getMessage());
        }
        ($this->log)(sprintf(
            '%s %s %s %d %dus',
            date(DATE_RFC3339),
            $request->method,
            $request->path,
            $response->status,
            intdiv(hrtime(true) - $began, 1000),
        ));
        return $response;
    }

    private function token(Request $request, Closure $next): Response
    {
        $this->jwt->subject($request->header('authorization'));
        return $next($request);
    }

    private function trace(Request $request, Closure $next): Response
    {
        $form = '/\A00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})\z/';
        $known = preg_match($form, $request->header('traceparent') ?? '', $found) === 1;
        [$trace, $flags] = $known ? [$found[1], $found[2]] : [bin2hex(random_bytes(16)), '01'];
        $span = bin2hex(random_bytes(8));
        return $next($request)->withHeader('Traceparent', "00-$trace-$span-$flags");
    }
}
