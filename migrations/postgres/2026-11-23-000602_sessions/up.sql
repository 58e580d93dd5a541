-- Each row is a browser that logged in, with a keyed hash of its secret and never the secret itself.
CREATE TABLE sessions (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C",
    keyed_hash BYTEA NOT NULL CHECK (length(keyed_hash) = 32),
    stage TEXT COLLATE "C" NOT NULL CHECK (stage IN ('password', 'complete')),
    address TEXT NOT NULL,
    agent TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    wrong_codes BIGINT NOT NULL CHECK (wrong_codes >= 0),
    sent_without_code BIGINT NOT NULL CHECK (sent_without_code >= 0),
    ended_at BIGINT,
    version BIGINT NOT NULL CHECK (version >= 1)
);

-- Lists the open sessions of a user.
CREATE INDEX sessions_of_user ON sessions (user_id, id) WHERE ended_at IS NULL;

-- Finds old sessions, which housekeeping removes.
CREATE INDEX sessions_age ON sessions (expires_at);
