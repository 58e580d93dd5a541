-- API keys, found by their public part; never the secret, only its code.
CREATE TABLE api_keys (
    prefix TEXT COLLATE "C" PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    mac BYTEA NOT NULL CHECK (length(mac) = 32),
    scopes TEXT NOT NULL,
    expires_at BIGINT,
    allowed_addresses TEXT NOT NULL,
    revoked_at BIGINT,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1)
);

CREATE INDEX api_keys_of_account ON api_keys (account_id, id);
