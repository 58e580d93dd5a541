DELETE FROM entries WHERE kind IN ('crypto_deposit', 'crypto_withdrawal', 'crypto_withdrawal_failed');
DROP INDEX entries_rare;
ALTER TABLE entries DROP CONSTRAINT entries_kind_check;
ALTER TABLE entries ADD CONSTRAINT entries_kind_check CHECK (kind IN (
    'charge', 'extra_payment', 'fee', 'split', 'release', 'payout', 'payout_failed', 'payout_reversed', 'refund', 'refund_failed',
    'infraction', 'infraction_released', 'infraction_returned'
));
CREATE INDEX entries_rare ON entries ((holder || ''), kind, id)
WHERE kind = 'split' OR kind = 'extra_payment' OR kind = 'release' OR kind = 'payout' OR kind = 'payout_failed'
    OR kind = 'payout_reversed' OR kind = 'refund' OR kind = 'refund_failed' OR kind = 'infraction' OR kind = 'infraction_released'
    OR kind = 'infraction_returned';
