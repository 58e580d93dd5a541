-- Each row is an API key, with a keyed hash of its secret and never the secret itself.
-- The last use is written about once a minute, outside of the record's versions.
-- A request shows the public prefix of its key before its account is known. So the prefix is the primary key.
CREATE TABLE api_keys (
    prefix TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    keyed_hash BLOB NOT NULL CHECK (length(keyed_hash) = 32),
    scopes TEXT NOT NULL,
    expires_at INTEGER,
    allowed_addresses TEXT NOT NULL,
    revoked_at INTEGER,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    last_used_at INTEGER,
    last_used_address TEXT
) STRICT;

-- Lists the keys of an account.
CREATE INDEX api_keys_of_account ON api_keys (account_id, id);
