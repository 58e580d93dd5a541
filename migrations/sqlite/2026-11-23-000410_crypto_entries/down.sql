CREATE TABLE entries_rebuilt (
    holder TEXT NOT NULL,
    id TEXT NOT NULL,
    bucket TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount <> 0),
    balance_after INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN (
        'charge', 'extra_payment', 'fee', 'split', 'release', 'payout', 'payout_failed', 'payout_reversed', 'refund', 'refund_failed',
        'infraction', 'infraction_released', 'infraction_returned'
    )),
    resource_id TEXT,
    end_to_end_id TEXT,
    transfer_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (holder, id)
) STRICT, WITHOUT ROWID;
INSERT INTO entries_rebuilt SELECT * FROM entries
WHERE kind NOT IN ('crypto_deposit', 'crypto_withdrawal', 'crypto_withdrawal_failed');
DROP TABLE entries;
ALTER TABLE entries_rebuilt RENAME TO entries;

CREATE INDEX entries_rare ON entries ((holder || ''), kind, id)
WHERE kind = 'split' OR kind = 'extra_payment' OR kind = 'release' OR kind = 'payout' OR kind = 'payout_failed'
    OR kind = 'payout_reversed' OR kind = 'refund' OR kind = 'refund_failed' OR kind = 'infraction' OR kind = 'infraction_released'
    OR kind = 'infraction_returned';
CREATE INDEX entries_fees ON entries ((holder || ''), id) WHERE kind = 'fee' AND holder < 'b';
CREATE INDEX entries_held ON entries ((holder || ''), bucket, id) WHERE bucket = 'pending' OR bucket = 'blocked';
