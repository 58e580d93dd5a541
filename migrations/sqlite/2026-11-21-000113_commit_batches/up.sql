-- The batches that were committed, so that a lost reply to COMMIT can be told from a lost COMMIT.
CREATE TABLE commit_batches (
    id TEXT PRIMARY KEY,
    committed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
