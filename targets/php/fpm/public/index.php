<?php

declare(strict_types=1);

/*
 * The front controller: the bootstrap of each request, step by step, then the route.
 *
 * CUT ends the bootstrap of /ping (of no other path) at a named step, with the answer of /ping: what is left
 * out between two steps is what the later step costs. Invariant: each cut has its whole step behind it.
 */

use Prony\App;
use Prony\Autoloader;
use Prony\Config;
use Prony\Fpm\Debug;
use Prony\Http\Request;
use Prony\Service\Services;
use Prony\Times;

$cut = $_SERVER['REQUEST_URI'] === '/ping' ? (getenv('CUT') ?: 'complete') : 'complete';
$reached = static function (string $step) use ($cut): void {
    if ($cut === $step) {
        header('Content-Type: application/json');
        echo json_encode(['code' => 0, 'msg' => 'ok', 'data' => new stdClass()]);
        exit;
    }
};

$reached('entry');

require __DIR__ . '/../../common/src/Http/Request.php';
$request = Request::fromGlobals();
$reached('parsed-request');

require __DIR__ . '/../../common/src/Autoloader.php';
(new Autoloader([
    'Prony\\Fpm\\' => __DIR__ . '/../src',
    'Prony\\' => __DIR__ . '/../../common/src',
]))->register();
class_exists(Config::class);
class_exists(App::class);
$reached('autoload');

$config = Config::fromEnvironment();
$config->load('project');
$reached('project-config');

$config->load('base');
$reached('base-config');

$app = App::create($config, Services::single($config));
$reached('routes');

$response = match ($request->path) {
    '/debug/opcache' => Debug::opcache(),
    '/debug/php' => Debug::php(),
    '/debug/requests' => Debug::requests(),
    default => $app->handle($request),
};
$response->emit();
if (Times::isOn() && !str_starts_with($request->path, '/debug/')) {
    $took = microtime(true) - $_SERVER['REQUEST_TIME_FLOAT'];
    // The client has its answer before this is written down.
    fastcgi_finish_request();
    Times::add($took);
}
