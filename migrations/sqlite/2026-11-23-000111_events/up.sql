-- Each row is an event of an account. `data` is its resource at that instant, and never changes: all deliveries send the same bytes.
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

-- Lists the events of a type.
CREATE INDEX events_of_type ON events (account_id, type, sequence);
-- Lists the events of a resource for its page in the dashboard. Ids of resources ascend, so new rows are near the end of their account's
-- part.
CREATE INDEX events_of_resource ON events (account_id, resource_id, sequence);
