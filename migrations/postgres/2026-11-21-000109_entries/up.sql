-- Both sides of every movement of money; rows are only ever added.
CREATE TABLE entries (
    holder TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    bucket TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL CHECK (amount <> 0),
    balance_after BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('charge', 'extra_payment', 'fee')),
    resource_id TEXT,
    end_to_end_id TEXT,
    transfer_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (holder, id)
);
