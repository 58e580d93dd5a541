-- What consumers are told, in the order of their account.
CREATE TABLE events (
    account_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL CHECK (sequence >= 1),
    id TEXT COLLATE "C" NOT NULL,
    type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    data BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, sequence),
    UNIQUE (account_id, id)
);
