-- Every delivery of an event to an endpoint, and how it ended. Only a test carries its body: that of an event is kept with the event.
-- Room for the one update of a row in its page: none of its columns that has an index ever changes.
CREATE TABLE deliveries (
    account_id TEXT COLLATE "C" NOT NULL,
    endpoint_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    event_type TEXT NOT NULL,
    sequence BIGINT,
    body BYTEA,
    status TEXT NOT NULL,
    fence BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    UNIQUE (event_id, account_id, endpoint_id),
    CHECK (
        status IN ('pending', 'succeeded', 'failed', 'cancelled') AND fence >= 0
        AND (sequence IS NULL) = (body IS NOT NULL)
    )
) WITH (fillfactor = 85);

-- Tests, which have no event by whose age they go.
CREATE INDEX deliveries_tests ON deliveries (created_at) WHERE sequence IS NULL;
-- Last: as long as the server knows no numbers, it prefers the youngest of several indexes.
ALTER TABLE deliveries ADD PRIMARY KEY (account_id, endpoint_id, id);

-- The queue: one row for each delivery that is pending, and none when it is over. So this table stays as small as what waits, and what its
-- updates leave behind is soon gone. A row that is claimed is due when its lease is over: so it comes back by itself.
-- No CHECK, which the server would read anew for every claim and every outcome.
CREATE TABLE pending_deliveries (
    account_id TEXT COLLATE "C" NOT NULL,
    endpoint_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    tries BIGINT NOT NULL DEFAULT 0,
    fence BIGINT NOT NULL DEFAULT 0,
    due_at BIGINT NOT NULL,
    lease_until BIGINT,
    -- To be sent once more when what is in flight is over, whatever comes of it.
    again BOOLEAN NOT NULL DEFAULT FALSE
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- What waits in each lane, the longest overdue first.
CREATE INDEX pending_deliveries_due ON pending_deliveries (endpoint_id, epoch, due_at);
-- What is in flight: at most a few rows for each endpoint.
CREATE INDEX pending_deliveries_leased ON pending_deliveries (endpoint_id, lease_until) WHERE lease_until IS NOT NULL;
-- Last, as above.
ALTER TABLE pending_deliveries ADD PRIMARY KEY (account_id, endpoint_id, id);
