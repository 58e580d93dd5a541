-- Each row is a webhook endpoint of a merchant and its present state. Secrets are encrypted.
CREATE TABLE webhook_endpoints (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    slot INTEGER NOT NULL CHECK (slot BETWEEN 0 AND 99),
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL CHECK (state IN ('active', 'inactive', 'disabled', 'deleted')),
    disabled_reason TEXT CHECK (disabled_reason IN ('gone', 'failing')),
    state_at INTEGER,
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    secret BLOB NOT NULL,
    previous_secret BLOB,
    previous_until INTEGER,
    created_at INTEGER NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id),
    CHECK ((state = 'disabled') = (disabled_reason IS NOT NULL)),
    CHECK ((state IN ('disabled', 'deleted')) = (state_at IS NOT NULL)),
    CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
) STRICT;

-- Finds the present endpoints of an account, for each batch with events.
CREATE INDEX webhook_endpoints_visible ON webhook_endpoints (account_id, id) WHERE state <> 'deleted';
-- Finds deleted endpoints, which housekeeping removes after their deliveries.
CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints (state_at) WHERE state = 'deleted';
