-- The users of targets/CONTRACT.md, from seed 42. Run once; the data directory is then kept.
CREATE DATABASE prony;
\connect prony

-- No index on name: a scan by name reads the whole table.
CREATE TABLE users (
    id integer PRIMARY KEY,
    name varchar(64) NOT NULL,
    email varchar(128) NOT NULL,
    age integer NOT NULL,
    active boolean NOT NULL,
    score integer NOT NULL
);

INSERT INTO users
SELECT id,
       'user-' || lpad(id::text, 6, '0'),
       'user-' || lpad(id::text, 6, '0') || '@example.com',
       18 + (7 * id) % 50,
       id % 2 = 0,
       ('x' || left(md5('prony:42:' || id), 6))::bit(24)::integer % 1000
FROM generate_series(1, 100000) AS id;

VACUUM ANALYZE users;
