-- Received money that its account may not use yet: what one Pix brought, and from when on it may be used.
-- Room for updates in the same page.
CREATE TABLE releases (
    account_id TEXT COLLATE "C" NOT NULL,
    end_to_end_id TEXT COLLATE "C" NOT NULL,
    charge_id TEXT NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    due_at BIGINT NOT NULL,
    released_at BIGINT,
    version BIGINT NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, end_to_end_id),
    CHECK (released_at >= due_at)
) WITH (fillfactor = 80);

-- What was not released yet.
CREATE INDEX releases_due ON releases (due_at) WHERE released_at IS NULL;
