-- Each row is a browser that logged in, with a keyed hash of its secret and never the secret itself.
CREATE TABLE sessions (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL,
    account_id TEXT,
    keyed_hash BLOB NOT NULL CHECK (length(keyed_hash) = 32),
    stage TEXT NOT NULL CHECK (stage IN ('password', 'complete')),
    address TEXT NOT NULL,
    agent TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    wrong_codes INTEGER NOT NULL CHECK (wrong_codes >= 0),
    sent_without_code INTEGER NOT NULL CHECK (sent_without_code >= 0),
    ended_at INTEGER,
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

-- Lists the open sessions of a user.
CREATE INDEX sessions_of_user ON sessions (user_id, id) WHERE ended_at IS NULL;

-- Finds old sessions, which housekeeping removes.
CREATE INDEX sessions_age ON sessions (expires_at);
