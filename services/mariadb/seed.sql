-- The users of targets/CONTRACT.md, from seed 42. Run once; the data directory is then kept.
CREATE DATABASE prony CHARACTER SET utf8mb4;
CREATE USER 'prony'@'%' IDENTIFIED BY 'prony';
GRANT SELECT ON prony.* TO 'prony'@'%';
USE prony;

-- No index on name: db-scan reads the whole table.
CREATE TABLE users (
    id INT NOT NULL PRIMARY KEY,
    name VARCHAR(64) NOT NULL,
    email VARCHAR(128) NOT NULL,
    age INT NOT NULL,
    active BOOLEAN NOT NULL,
    score INT NOT NULL
) ENGINE = InnoDB;

INSERT INTO users
SELECT seq,
       CONCAT('user-', LPAD(seq, 6, '0')),
       CONCAT('user-', LPAD(seq, 6, '0'), '@example.com'),
       18 + (7 * seq) MOD 50,
       seq MOD 2 = 0,
       CONV(LEFT(MD5(CONCAT('prony:42:', seq)), 6), 16, 10) MOD 1000
FROM seq_1_to_100000;

ANALYZE TABLE users;
