-- Commit 1 of a payout. The contended rows come last, in one statement. Without cover the statement changes no row. So the rows
-- are locked for one round trip and the commit.
BEGIN;
INSERT INTO idempotency_records (account_id, key, fingerprint, resource_id, fence, lease_until, due_at, created_at)
 VALUES ('acc_payer', 'pyt_' || lpad(:id::text, 26, '0'), decode(repeat('01', 32), 'hex'), 'pyt_' || lpad(:id::text, 26, '0'), 1,
 1767323075678901, 1767323075678901, 1767323045678901) ON CONFLICT DO NOTHING;
INSERT INTO account_reservations (account_id, space, value, owner)
 VALUES ('acc_payer', 'payout.external_id', 'order-' || :id::text, 'pyt_' || lpad(:id::text, 26, '0')) ON CONFLICT DO NOTHING;
INSERT INTO global_reservations (space, value, account_id, owner)
 VALUES ('instruction_id', lpad(:id::text, 26, '0'), 'acc_payer', 'pyt_' || lpad(:id::text, 26, '0')) ON CONFLICT DO NOTHING;
INSERT INTO payouts (account_id, id, amount, fee, pix_key, pix_key_type, external_id, origin, returned, status, acquirer, attempts,
 created_at, version)
 VALUES ('acc_payer', 'pyt_' || lpad(:id::text, 26, '0'), {sent}, {payout_fee}, 'ana@bank.example', 'email', 'order-' || :id::text, 'api',
 0, 'pending', 'main', 0, 1767323045678901, 1);
WITH available AS (
 UPDATE balances SET amount = amount - {gross}, entries = entries + 2,
 last_entry_id = 'ent_' || lpad((:id::bigint * 8 + 2)::text, 26, '0')
 WHERE holder = 'acc_payer' AND bucket = 'available' AND amount >= {gross} RETURNING amount
), transit AS (
 UPDATE balances AS b SET amount = b.amount + {gross}, entries = b.entries + 2,
 last_entry_id = 'ent_' || lpad((:id::bigint * 8 + 3)::text, 26, '0')
 FROM available AS a WHERE b.holder = 'acc_payer' AND b.bucket = 'in_transit' RETURNING a.amount AS available, b.amount AS transit
), written AS (
 INSERT INTO entries (holder, id, bucket, amount, balance_after, kind, resource_id, transfer_id, created_at)
 SELECT 'acc_payer', 'ent_' || lpad((:id::bigint * 8 + e.number)::text, 26, '0'), e.bucket, e.amount, e.after, e.kind,
 'pyt_' || lpad(:id::text, 26, '0'), 'trf_' || lpad((:id::bigint * 4 + e.transfer)::text, 26, '0'), 1767323045678901
 FROM transit AS t, LATERAL (VALUES
 (0, 0, 'available', -{sent}, t.available + {payout_fee}, 'payout'), (1, 0, 'in_transit', {sent}, t.transit - {payout_fee}, 'payout'),
 (2, 1, 'available', -{payout_fee}, t.available, 'fee'), (3, 1, 'in_transit', {payout_fee}, t.transit, 'fee')
 ) AS e (number, transfer, bucket, amount, after, kind)
)
SELECT available AS covered FROM transit \gset
COMMIT;
