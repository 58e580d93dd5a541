-- Each row is the release of a Pix: received money that its account may use from `due_at` on.
CREATE TABLE releases (
    account_id TEXT NOT NULL,
    end_to_end_id TEXT NOT NULL,
    charge_id TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    due_at INTEGER NOT NULL,
    released_at INTEGER,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, end_to_end_id),
    CHECK (released_at >= due_at)
) STRICT;

-- Finds the releases that are still due.
CREATE INDEX releases_due ON releases (due_at) WHERE released_at IS NULL;
