-- Each row is the last event sequence number of an account. A batch that assigns numbers locks the row.
CREATE TABLE event_counters (
    account_id TEXT PRIMARY KEY,
    last_sequence INTEGER NOT NULL CHECK (last_sequence >= 0)
) STRICT, WITHOUT ROWID;
