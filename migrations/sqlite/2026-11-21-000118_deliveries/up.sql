-- Every delivery of an event to an endpoint, and how it ended. Only a test carries its body: that of an event is kept with the event.
CREATE TABLE deliveries (
    account_id TEXT NOT NULL,
    endpoint_id TEXT NOT NULL,
    id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    sequence INTEGER,
    body BLOB,
    status TEXT NOT NULL,
    fence INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, endpoint_id, id),
    UNIQUE (event_id, account_id, endpoint_id),
    CHECK (
        status IN ('pending', 'succeeded', 'failed', 'cancelled') AND fence >= 0
        AND (sequence IS NULL) = (body IS NOT NULL)
    )
) STRICT;

-- Tests, which have no event by whose age they go.
CREATE INDEX deliveries_tests ON deliveries (created_at) WHERE sequence IS NULL;

-- The queue: one row for each delivery that is pending, and none when it is over.
-- A row that is claimed is due when its lease is over: so it comes back by itself.
CREATE TABLE pending_deliveries (
    account_id TEXT NOT NULL,
    endpoint_id TEXT NOT NULL,
    id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    lease_until INTEGER,
    -- To be sent once more when what is in flight is over, whatever comes of it.
    again INTEGER NOT NULL DEFAULT FALSE,
    PRIMARY KEY (account_id, endpoint_id, id)
) STRICT;

-- What waits in each lane, the longest overdue first.
CREATE INDEX pending_deliveries_due ON pending_deliveries (endpoint_id, epoch, due_at);
-- What is in flight: at most a few rows for each endpoint.
CREATE INDEX pending_deliveries_leased ON pending_deliveries (endpoint_id, lease_until) WHERE lease_until IS NOT NULL;
