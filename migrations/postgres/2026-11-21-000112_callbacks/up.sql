-- Callbacks from upstream, kept until the truth was read.
-- Room for updates in the same page.
CREATE TABLE callbacks (
    id TEXT COLLATE "C" PRIMARY KEY,
    acquirer TEXT NOT NULL,
    body BYTEA NOT NULL,
    received_at BIGINT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'done', 'unmatched')),
    attempts BIGINT NOT NULL CHECK (attempts >= 0),
    due_at BIGINT,
    version BIGINT NOT NULL CHECK (version >= 1),
    CHECK (state = 'waiting' OR due_at IS NULL)
) WITH (fillfactor = 80);

CREATE INDEX callbacks_due ON callbacks (due_at) WHERE due_at IS NOT NULL;
