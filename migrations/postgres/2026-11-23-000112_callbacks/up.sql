-- Each row is a callback from an acquirer. Its body lists the items that the callback names.
-- A callback stays open until the present state of its items was read at the acquirer.
-- The fill factor leaves room in each page for updated rows.
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

-- Finds the open callbacks that are due.
CREATE INDEX callbacks_due ON callbacks (due_at) WHERE due_at IS NOT NULL;
-- Lists the callbacks that need review by an operator.
CREATE INDEX callbacks_unmatched ON callbacks (id) WHERE state = 'unmatched';
-- Finds open and unmatched callbacks by their body, so that a repeated callback updates its row. A body can be too long for a B-tree.
CREATE INDEX callbacks_named ON callbacks USING hash (body) WHERE state <> 'done';
