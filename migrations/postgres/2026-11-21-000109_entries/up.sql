-- Both sides of every movement of money; rows are only ever added.
CREATE TABLE entries (
    holder TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    bucket TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL CHECK (amount <> 0),
    balance_after BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN (
        'charge', 'extra_payment', 'fee', 'split', 'release', 'payout', 'payout_failed', 'payout_reversed', 'refund', 'refund_failed',
        'infraction', 'infraction_released', 'infraction_returned'
    )),
    resource_id TEXT,
    end_to_end_id TEXT,
    transfer_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (holder, id)
);

-- Split credits of the timeline, and pages of the statement of one kind that no ordinary payment leaves. Those of charges walk along the
-- primary key, and are long only where such entries are few: an index of theirs would cost every payment. These indexes begin with an
-- expression that only the queries for such entries use: then the primary key, along which they would be a long walk, is not even considered.
CREATE INDEX entries_rare ON entries ((holder || ''), kind, id)
WHERE kind = 'split' OR kind = 'extra_payment' OR kind = 'release' OR kind = 'payout' OR kind = 'payout_failed'
    OR kind = 'payout_reversed' OR kind = 'refund' OR kind = 'refund_failed' OR kind = 'infraction' OR kind = 'infraction_released'
    OR kind = 'infraction_returned';
-- Fees of merchants, which payouts alone leave; those of payments move between accounts of the house, whose names begin with later letters.
CREATE INDEX entries_fees ON entries ((holder || ''), id) WHERE kind = 'fee' AND holder < 'b';
-- Pages of the statement of one bucket that most accounts never use.
CREATE INDEX entries_held ON entries ((holder || ''), bucket, id) WHERE bucket = 'pending' OR bucket = 'blocked';
