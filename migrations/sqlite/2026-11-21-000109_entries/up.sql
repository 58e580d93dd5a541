-- Both sides of every movement of money; rows are only ever added.
CREATE TABLE entries (
    holder TEXT NOT NULL,
    id TEXT NOT NULL,
    bucket TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount <> 0),
    balance_after INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('charge', 'extra_payment', 'fee')),
    resource_id TEXT,
    end_to_end_id TEXT,
    transfer_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (holder, id)
) STRICT, WITHOUT ROWID;
