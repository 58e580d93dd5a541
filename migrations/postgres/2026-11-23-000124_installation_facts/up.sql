-- Each row is a fact that the first start fixes: the world of the money, or a check value of the master key.
-- Rows are never changed.
CREATE TABLE installation_facts (
    name TEXT COLLATE "C" PRIMARY KEY CHECK (name IN ('world', 'master_key_check')),
    value TEXT COLLATE "C" NOT NULL
);
