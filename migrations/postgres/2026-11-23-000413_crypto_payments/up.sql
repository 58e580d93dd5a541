-- Payments to the addresses of crypto deposits, by the processor's identifier. Each later payment to an address has its own row.
CREATE TABLE crypto_payments (
    account_id TEXT COLLATE "C" NOT NULL,
    processor TEXT COLLATE "C" NOT NULL,
    payment_id TEXT COLLATE "C" NOT NULL,
    deposit_id TEXT COLLATE "C" NOT NULL,
    currency TEXT NOT NULL,
    coins TEXT NOT NULL,
    gross BIGINT NOT NULL CHECK (gross >= 0),
    fee BIGINT NOT NULL CHECK (fee BETWEEN 0 AND gross),
    state TEXT NOT NULL CHECK (state IN ('credited', 'review', 'dismissed')),
    review_reason TEXT CHECK (review_reason IN ('wrong_asset', 'too_late', 'too_many_coins', 'unexpected_state', 'fewer_coins', 'not_finished')),
    tx_hash TEXT,
    created_at BIGINT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    PRIMARY KEY (account_id, processor, payment_id),
    CHECK ((state = 'credited') = (review_reason IS NULL))
);

-- The payments of a deposit.
CREATE INDEX crypto_payments_of_deposit ON crypto_payments (account_id, deposit_id, payment_id);
-- The payments that wait for an operator.
CREATE INDEX crypto_payments_for_review ON crypto_payments (created_at, payment_id) WHERE state = 'review';
-- The payments of a processor in a span of time, over all accounts. The expression keeps the index from reads by key.
CREATE INDEX crypto_payments_by_time ON crypto_payments ((processor || ''), created_at, payment_id);
