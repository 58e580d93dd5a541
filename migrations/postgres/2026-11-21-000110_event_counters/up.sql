-- The last sequence number of each account; its row is locked while numbers are given out.
-- Room for updates in the same page.
CREATE TABLE event_counters (
    account_id TEXT COLLATE "C" PRIMARY KEY,
    last_sequence BIGINT NOT NULL CHECK (last_sequence >= 0)
) WITH (fillfactor = 50);
