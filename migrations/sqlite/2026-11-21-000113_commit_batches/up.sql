-- What became of batches, so that a lost reply to COMMIT can be told from a lost COMMIT: a batch writes its id as committed,
-- and whoever asks in vain what became of it takes the id as burned, so that it can never be committed.
CREATE TABLE commit_batches (
    id TEXT PRIMARY KEY,
    outcome TEXT NOT NULL CHECK (outcome IN ('committed', 'burned')),
    decided_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
