-- What consumers are told, in the order of their account: the bytes that are sent, once for all who hear of it.
CREATE TABLE events (
    account_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL CHECK (sequence >= 1),
    id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    resource_id TEXT NOT NULL,
    body BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, sequence),
    UNIQUE (account_id, id)
);

-- A list of one type.
CREATE INDEX events_of_type ON events (account_id, type, sequence);
