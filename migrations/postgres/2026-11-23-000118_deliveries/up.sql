-- Each row is a delivery of an event to an endpoint, and its status.
-- A test of an endpoint has no event in `events`, and no sequence number.
-- The fill factor leaves room in each page for the single update of a row. Indexed columns never change.
CREATE TABLE deliveries (
    account_id TEXT COLLATE "C" NOT NULL,
    endpoint_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    event_id TEXT COLLATE "C" NOT NULL,
    event_type TEXT NOT NULL,
    sequence BIGINT,
    status TEXT NOT NULL,
    fence BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    UNIQUE (event_id, account_id, endpoint_id),
    CHECK (
        status IN ('pending', 'succeeded', 'failed', 'cancelled') AND fence >= 0
        AND (sequence IS NULL) = (event_type = 'webhook.test')
    )
) WITH (fillfactor = 85);

-- Finds test deliveries that housekeeping removes by age. Other deliveries are removed with their event.
CREATE INDEX deliveries_tests ON deliveries (created_at) WHERE sequence IS NULL;
-- The primary key comes after the other indexes. Without statistics, the planner prefers the youngest index.
ALTER TABLE deliveries ADD PRIMARY KEY (account_id, endpoint_id, id);

-- Each row is a pending delivery in the queue of its endpoint. A delivery that ends leaves the table, so the table stays small.
-- A claim sets `due_at` to the end of its lease. So the delivery of a node that failed becomes due again without another write.
-- `requested_at` is the instant at which a merchant requested a test or a resend. Deliveries of new events have none.
-- `resend_requested` marks a resend that was requested during an attempt. The delivery is due again when that attempt ends.
-- The table has no CHECK, because the server would parse it again for each claim and each outcome.
-- Vacuum starts early and without delay, because every delivery leaves dead rows.
CREATE TABLE pending_deliveries (
    account_id TEXT COLLATE "C" NOT NULL,
    endpoint_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    epoch BIGINT NOT NULL,
    tries BIGINT NOT NULL DEFAULT 0,
    fence BIGINT NOT NULL DEFAULT 0,
    due_at BIGINT NOT NULL,
    lease_until BIGINT,
    requested_at BIGINT,
    resend_requested BOOLEAN NOT NULL DEFAULT FALSE
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Finds the due deliveries of a queue, the longest overdue first.
CREATE INDEX pending_deliveries_due ON pending_deliveries (endpoint_id, epoch, due_at);
-- Finds the deliveries in flight: at most a few rows per endpoint.
CREATE INDEX pending_deliveries_leased ON pending_deliveries (endpoint_id, lease_until) WHERE lease_until IS NOT NULL;
-- The primary key comes after the two indexes of queues, for the same reason as above.
ALTER TABLE pending_deliveries ADD PRIMARY KEY (account_id, endpoint_id, id);
-- Finds the longest overdue deliveries of all queues. The index is of an expression, so only this query uses it. A claim in one queue along
-- this index would visit all other queues.
CREATE INDEX pending_deliveries_overdue ON pending_deliveries ((0 + due_at));
-- Counts the tests and resends that wait for an endpoint. Few requests wait at a time.
CREATE INDEX pending_deliveries_requested ON pending_deliveries (endpoint_id, epoch) WHERE requested_at IS NOT NULL;
