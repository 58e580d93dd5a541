-- Each row is a delivery of an event to an endpoint, and its status.
-- A test of an endpoint has no event in `events`, and no sequence number.
CREATE TABLE deliveries (
    account_id TEXT NOT NULL,
    endpoint_id TEXT NOT NULL,
    id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    sequence INTEGER,
    status TEXT NOT NULL,
    fence INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, endpoint_id, id),
    UNIQUE (event_id, account_id, endpoint_id),
    CHECK (
        status IN ('pending', 'succeeded', 'failed', 'cancelled') AND fence >= 0
        AND (sequence IS NULL) = (event_type = 'webhook.test')
    )
) STRICT;

-- Finds test deliveries that housekeeping removes by age. Other deliveries are removed with their event.
CREATE INDEX deliveries_tests ON deliveries (created_at) WHERE sequence IS NULL;

-- Each row is a pending delivery in the queue of its endpoint. A delivery that ends leaves the table, so the table stays small.
-- A claim sets `due_at` to the end of its lease. So the delivery of a node that failed becomes due again without another write.
-- `requested_at` is the instant at which a merchant requested a test or a resend. Deliveries of new events have none.
-- `resend_requested` marks a resend that was requested during an attempt. The delivery is due again when that attempt ends.
CREATE TABLE pending_deliveries (
    account_id TEXT NOT NULL,
    endpoint_id TEXT NOT NULL,
    id TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    lease_until INTEGER,
    requested_at INTEGER,
    resend_requested INTEGER NOT NULL DEFAULT FALSE,
    PRIMARY KEY (account_id, endpoint_id, id)
) STRICT;

-- Finds the due deliveries of a queue, the longest overdue first.
CREATE INDEX pending_deliveries_due ON pending_deliveries (endpoint_id, epoch, due_at);
-- Finds the deliveries in flight: at most a few rows per endpoint.
CREATE INDEX pending_deliveries_leased ON pending_deliveries (endpoint_id, lease_until) WHERE lease_until IS NOT NULL;
-- Finds the longest overdue deliveries of all queues. The index is of an expression, so only this query uses it. A claim in one queue along
-- this index would visit all other queues.
CREATE INDEX pending_deliveries_overdue ON pending_deliveries ((0 + due_at));
-- Counts the tests and resends that wait for an endpoint. Few requests wait at a time.
CREATE INDEX pending_deliveries_requested ON pending_deliveries (endpoint_id, epoch) WHERE requested_at IS NOT NULL;
