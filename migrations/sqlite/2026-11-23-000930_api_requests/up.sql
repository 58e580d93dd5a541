-- Each row is an answered request of an account, for its holder to look up. No decision depends on it.
-- Bodies and the values of queries are never stored.
CREATE TABLE api_requests (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status INTEGER NOT NULL CHECK (status BETWEEN 100 AND 599),
    key_prefix TEXT NOT NULL,
    took_ms INTEGER NOT NULL CHECK (took_ms >= 0),
    PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;

-- Finds old requests, which housekeeping removes.
CREATE INDEX api_requests_by_age ON api_requests (at);
