-- Each row is an entry: the debit or the credit of a transfer in a ledger account. Rows are never changed or removed.
CREATE TABLE entries (
    holder TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    bucket TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL CHECK (amount <> 0),
    balance_after BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN (
        'charge', 'extra_payment', 'fee', 'split', 'release', 'payout', 'payout_failed', 'payout_reversed', 'refund', 'refund_failed',
        'infraction', 'infraction_released', 'infraction_returned', 'crypto_deposit', 'crypto_withdrawal', 'crypto_withdrawal_failed'
    )),
    resource_id TEXT,
    end_to_end_id TEXT,
    transfer_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (holder, id)
);

-- Split credits of the timeline, and pages of the statement of a rare kind.
-- Pages of the kind `charge` are read along the primary key. An index for them would be updated by every payment.
-- The three indexes begin with an expression that only queries for rare entries contain. So the planner never reads such entries along the
-- primary key, past all other entries of the account.
CREATE INDEX entries_rare ON entries ((holder || ''), kind, id)
WHERE kind = 'split' OR kind = 'extra_payment' OR kind = 'release' OR kind = 'payout' OR kind = 'payout_failed'
    OR kind = 'payout_reversed' OR kind = 'refund' OR kind = 'refund_failed' OR kind = 'infraction' OR kind = 'infraction_released'
    OR kind = 'infraction_returned' OR kind = 'crypto_deposit' OR kind = 'crypto_withdrawal' OR kind = 'crypto_withdrawal_failed';
-- Fees of merchants. A payment creates fee entries in system accounts alone, whose names begin with letters after `a`.
CREATE INDEX entries_fees ON entries ((holder || ''), id) WHERE kind = 'fee' AND holder < 'b';
-- Pages of the statement of the buckets `pending` and `blocked`, which most accounts never use.
CREATE INDEX entries_held ON entries ((holder || ''), bucket, id) WHERE bucket = 'pending' OR bucket = 'blocked';
