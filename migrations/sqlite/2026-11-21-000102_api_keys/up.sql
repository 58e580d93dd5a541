-- API keys, found by their public part; never the secret, only its code.
CREATE TABLE api_keys (
    prefix TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    account_id TEXT NOT NULL,
    name TEXT NOT NULL,
    mac BLOB NOT NULL CHECK (length(mac) = 32),
    scopes TEXT NOT NULL,
    expires_at INTEGER,
    allowed_addresses TEXT NOT NULL,
    revoked_at INTEGER,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE INDEX api_keys_of_account ON api_keys (account_id, id);
