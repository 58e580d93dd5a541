-- Callbacks from upstream, kept until the truth was read.
-- Room for updates in the same page.
CREATE TABLE notices (
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

CREATE INDEX notices_due ON notices (due_at) WHERE due_at IS NOT NULL;
