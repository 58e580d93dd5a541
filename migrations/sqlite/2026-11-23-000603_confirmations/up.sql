-- Each row is an action of the dashboard that waits for a one-time code, bound to one session.
CREATE TABLE confirmations (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL,
    account_id TEXT,
    session_id TEXT NOT NULL,
    action TEXT NOT NULL,
    terms TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'done', 'refused')),
    wrong_codes INTEGER NOT NULL CHECK (wrong_codes >= 0),
    version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

-- Finds old confirmations, which housekeeping removes.
CREATE INDEX confirmations_age ON confirmations (expires_at);
