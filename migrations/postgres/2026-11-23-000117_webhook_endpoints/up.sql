-- Each row is a webhook endpoint of a merchant and its present state. Secrets are encrypted.
-- The fill factor leaves room in each page for updated rows.
CREATE TABLE webhook_endpoints (
    account_id TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    slot BIGINT NOT NULL CHECK (slot BETWEEN 0 AND 99),
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL CHECK (state IN ('active', 'inactive', 'disabled', 'deleted')),
    disabled_reason TEXT CHECK (disabled_reason IN ('gone', 'failing')),
    state_at BIGINT,
    epoch BIGINT NOT NULL CHECK (epoch >= 0),
    secret BYTEA NOT NULL,
    previous_secret BYTEA,
    previous_until BIGINT,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, id),
    CHECK ((state = 'disabled') = (disabled_reason IS NOT NULL)),
    CHECK ((state IN ('disabled', 'deleted')) = (state_at IS NOT NULL)),
    CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
) WITH (fillfactor = 80);

-- Finds the present endpoints of an account, for each batch with events.
CREATE INDEX webhook_endpoints_visible ON webhook_endpoints (account_id, id) WHERE state <> 'deleted';
-- Finds deleted endpoints, which housekeeping removes after their deliveries.
CREATE INDEX webhook_endpoints_deleted ON webhook_endpoints (state_at) WHERE state = 'deleted';
