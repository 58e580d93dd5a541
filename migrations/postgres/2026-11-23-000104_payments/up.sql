-- Each row is a Pix that was credited, and its role for its charge.
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

-- For reconciliation: a page of one acquirer's payments is read along this index and ends with the page.
-- New payments are added at the end of their acquirer's part.
CREATE INDEX payments_by_time ON payments (acquirer, paid_at, end_to_end_id);
