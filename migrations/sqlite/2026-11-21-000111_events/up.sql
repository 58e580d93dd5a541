-- What consumers are told, in the order of their account.
CREATE TABLE events (
    account_id TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence >= 1),
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    data BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, sequence),
    UNIQUE (account_id, id)
) STRICT;
