-- Each row is a callback from an acquirer. Its body lists the items that the callback names.
-- A callback stays open until the present state of its items was read at the acquirer.
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

-- Finds the open callbacks that are due.
CREATE INDEX callbacks_due ON callbacks (due_at) WHERE due_at IS NOT NULL;
-- Lists the callbacks that need review by an operator.
CREATE INDEX callbacks_unmatched ON callbacks (id) WHERE state = 'unmatched';
-- Finds open and unmatched callbacks by their body, so that a repeated callback updates its row.
CREATE INDEX callbacks_named ON callbacks (body) WHERE state <> 'done';
