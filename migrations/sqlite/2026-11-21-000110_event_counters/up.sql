-- The last sequence number of each account; its row is locked while numbers are given out.
CREATE TABLE event_counters (
    account_id TEXT PRIMARY KEY,
    last_sequence INTEGER NOT NULL CHECK (last_sequence >= 0)
) STRICT, WITHOUT ROWID;
