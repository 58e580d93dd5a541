-- Callbacks from upstream, kept until the truth was read.
CREATE TABLE callbacks (
    id TEXT PRIMARY KEY,
    acquirer TEXT NOT NULL,
    body BLOB NOT NULL,
    received_at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'unmatched')),
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    due_at INTEGER,
    version INTEGER NOT NULL CHECK (version >= 1),
    CHECK (state = 'waiting' OR due_at IS NULL)
) STRICT;

CREATE INDEX callbacks_due ON callbacks (due_at) WHERE due_at IS NOT NULL;
