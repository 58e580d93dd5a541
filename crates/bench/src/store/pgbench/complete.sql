-- Commit 2 of a payout. The contended rows come last, in one statement.
BEGIN;
UPDATE payouts SET status = 'completed', sent_at = 1767323046678901, completed_at = 1767323046678901,
 end_to_end_id = 'E12345678202601020304' || lpad(:id::text, 11, '0'), recipient_name = 'Ana Lima', recipient_document = '***.456.789-**',
 version = version + 1
 WHERE account_id = 'acc_payer' AND id = 'pyt_' || lpad(:id::text, 26, '0') AND version = 1;
UPDATE idempotency_records SET response_kind = 'created', response_request_id = 'req_' || lpad(:id::text, 26, '0'),
 response_body = convert_to('{payout}', 'UTF8'), due_at = NULL
 WHERE account_id = 'acc_payer' AND key = 'pyt_' || lpad(:id::text, 26, '0') AND fence = 1 AND response_kind IS NULL;
WITH transit AS (
 UPDATE balances SET amount = amount - {gross}, entries = entries + 2,
 last_entry_id = 'ent_' || lpad((:id::bigint * 8 + 6)::text, 26, '0')
 WHERE holder = 'acc_payer' AND bucket = 'in_transit' AND amount >= {gross} RETURNING amount
), settlement AS (
 UPDATE balances AS b SET amount = b.amount + {sent}, entries = b.entries + 1,
 last_entry_id = 'ent_' || lpad((:id::bigint * 8 + 5)::text, 26, '0')
 FROM transit AS t WHERE b.holder = 'settlement-main' AND b.bucket = '00' RETURNING t.amount AS transit, b.amount AS settlement
), fees AS (
 UPDATE balances AS b SET amount = b.amount + {payout_fee}, entries = b.entries + 1,
 last_entry_id = 'ent_' || lpad((:id::bigint * 8 + 7)::text, 26, '0')
 FROM settlement AS s WHERE b.holder = 'fees' AND b.bucket = '00' RETURNING s.transit, s.settlement, b.amount AS fees
), counted AS (
 UPDATE event_counters AS c SET last_sequence = c.last_sequence + 1
 FROM fees WHERE c.account_id = 'acc_payer' RETURNING c.last_sequence AS sequence
), written AS (
 INSERT INTO entries (holder, id, bucket, amount, balance_after, kind, resource_id, end_to_end_id, transfer_id, created_at)
 SELECT e.holder, 'ent_' || lpad((:id::bigint * 8 + e.number)::text, 26, '0'), e.bucket, e.amount, e.after, e.kind,
 'pyt_' || lpad(:id::text, 26, '0'), 'E12345678202601020304' || lpad(:id::text, 11, '0'),
 'trf_' || lpad((:id::bigint * 4 + e.transfer)::text, 26, '0'), 1767323046678901
 FROM fees AS f, LATERAL (VALUES
 (4, 2, 'acc_payer', 'in_transit', -{sent}, f.transit + {payout_fee}, 'payout'), (5, 2, 'settlement-main', '00', {sent}, f.settlement, 'payout'),
 (6, 3, 'acc_payer', 'in_transit', -{payout_fee}, f.transit, 'fee'), (7, 3, 'fees', '00', {payout_fee}, f.fees, 'fee')
 ) AS e (number, transfer, holder, bucket, amount, after, kind)
), published AS (
 INSERT INTO events (account_id, sequence, id, type, resource_id, data, created_at)
 SELECT 'acc_payer', sequence, 'evt_' || lpad(:id::text, 26, '0'), 'payout.completed', 'pyt_' || lpad(:id::text, 26, '0'),
 convert_to('{payout}', 'UTF8'), 1767323046678901 FROM counted
)
SELECT sequence FROM counted \gset
COMMIT;
