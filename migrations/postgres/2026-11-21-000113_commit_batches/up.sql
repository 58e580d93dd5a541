-- The batches that were committed, so that a lost reply to COMMIT can be told from a lost COMMIT.
CREATE TABLE commit_batches (
    id TEXT COLLATE "C" PRIMARY KEY,
    committed_at BIGINT NOT NULL
);
