-- Each row is the last event sequence number of an account. A batch that assigns numbers locks the row.
-- The fill factor leaves room in each page for updated rows.
CREATE TABLE event_counters (
    account_id TEXT COLLATE "C" PRIMARY KEY,
    last_sequence BIGINT NOT NULL CHECK (last_sequence >= 0)
) WITH (fillfactor = 50);
