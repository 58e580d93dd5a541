-- What consumers are told, in the order of their account: the bytes that are sent, once for all who hear of it.
CREATE TABLE events (
    account_id TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    body BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, sequence),
    UNIQUE (account_id, id)
) STRICT;

-- A list of one type.
CREATE INDEX events_of_type ON events (account_id, type, sequence);
