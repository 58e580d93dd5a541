-- Every Pix that was credited, and what it was to its charge.
CREATE TABLE payments (
    account_id TEXT COLLATE "C" NOT NULL,
    end_to_end_id TEXT COLLATE "C" NOT NULL,
    charge_id TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL CHECK (amount > 0),
    paid_at BIGINT NOT NULL,
    acquirer TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('settles', 'extra', 'short')),
    credited_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, end_to_end_id)
);

-- For reconciliation alone; a summary of each range of pages costs the writers next to nothing. It is made as soon as a range is full, because
-- the last hours are what is asked for.
CREATE INDEX payments_by_time ON payments USING brin (paid_at) WITH (autosummarize = on);
