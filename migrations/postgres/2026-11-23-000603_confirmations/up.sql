-- Each row is an action of the dashboard that waits for a one-time code, bound to one session.
CREATE TABLE confirmations (
    id TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    account_id TEXT COLLATE "C",
    session_id TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    terms TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'done', 'refused')),
    wrong_codes BIGINT NOT NULL CHECK (wrong_codes >= 0),
    version BIGINT NOT NULL CHECK (version >= 1)
);

-- Finds old confirmations, which housekeeping removes.
CREATE INDEX confirmations_age ON confirmations (expires_at);
