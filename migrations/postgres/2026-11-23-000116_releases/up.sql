-- Each row is the release of a Pix: received money that its account may use from `due_at` on.
-- The fill factor leaves room in each page for updated rows.
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

-- Finds the releases that are still due.
CREATE INDEX releases_due ON releases (due_at) WHERE released_at IS NULL;
