-- Each row is the outcome of a commit batch.
-- A batch inserts its id as `committed` in its own transaction. After a lost reply, another connection inserts the same id as `aborted`.
-- Only the first of the two inserts succeeds, so an aborted batch can never be committed.
CREATE TABLE commit_batches (
    id TEXT PRIMARY KEY,
    outcome TEXT NOT NULL CHECK (outcome IN ('committed', 'aborted')),
    decided_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
