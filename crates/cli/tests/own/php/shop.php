<?php

// A small shop as somebody else would write it: PHP-FPM behind nginx, PDO. Each route has one fault that load brings
// out; nothing here knows of prony.

declare(strict_types=1);

function database(): PDO
{
    return new PDO(getenv('DSN'), getenv('DB_USER'), getenv('DB_PASSWORD'), [
        PDO::ATTR_PERSISTENT => true,
        PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
    ]);
}

/** A list, and for each row of it one more query. */
function wishes(): string
{
    $database = database();
    $prices = [];
    foreach (range(1, 40) as $item) {
        // The network to the database takes a part of a millisecond there and back.
        $prices[] = $database->query("SELECT $item, SLEEP(0.0005)")->fetchColumn();
    }
    return 'wishes ' . count($prices);
}

/** A password is checked. */
function login(): string
{
    return password_hash('secret', PASSWORD_BCRYPT, ['cost' => 7]) === '' ? 'no' : 'welcome';
}

$routes = ['/wishes' => wishes(...), '/login' => login(...), '/health' => fn () => 'ok'];
$route = $routes[$_SERVER['REQUEST_URI']] ?? null;
if ($route === null) {
    http_response_code(404);
    exit;
}
header('Content-Type: text/plain');
echo $route();
