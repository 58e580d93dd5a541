-- Each row is an event of an account. `data` is its resource at that instant, and never changes: all deliveries send the same bytes.
CREATE TABLE events (
    account_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL CHECK (sequence >= 1),
    id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    resource_id TEXT COLLATE "C" NOT NULL,
    data BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, sequence),
    UNIQUE (account_id, id)
);

-- Lists the events of a type.
CREATE INDEX events_of_type ON events (account_id, type, sequence);
-- Lists the events of a resource for its page in the dashboard. Ids of resources ascend, so new rows are near the end of their account's
-- part.
CREATE INDEX events_of_resource ON events (account_id, resource_id, sequence);
