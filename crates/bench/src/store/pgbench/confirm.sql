-- A payment. The contended rows come last, so that they are locked as briefly as one transaction allows.
BEGIN;
INSERT INTO global_reservations (space, value, account_id, owner)
 VALUES ('end_to_end_id', 'E12345678202601020304' || lpad(:id::text, 11, '0'), 'acc_hot', 'chg_' || lpad(:id::text, 26, '0'))
 ON CONFLICT DO NOTHING;
UPDATE charges SET status = 'paid', paid_at = 1767323135678901,
 end_to_end_id = 'E12345678202601020304' || lpad(:id::text, 11, '0'), version = version + 1
 WHERE account_id = 'acc_hot' AND id = 'chg_' || lpad(:id::text, 26, '0') AND version = 1;
INSERT INTO payments (account_id, end_to_end_id, charge_id, amount, paid_at, acquirer, role, credited_at)
 VALUES ('acc_hot', 'E12345678202601020304' || lpad(:id::text, 11, '0'), 'chg_' || lpad(:id::text, 26, '0'), {amount},
 1767323135678901, 'main', 'settles', 1767323045678901);
UPDATE balances SET amount = amount + {net}, entries = entries + 1, last_entry_id = 'ent_' || lpad((:id::bigint * 4)::text, 26, '0')
 WHERE holder = 'acc_hot' AND bucket = 'available' RETURNING amount AS available \gset
UPDATE balances SET amount = amount - {amount}, entries = entries + 2,
 last_entry_id = 'ent_' || lpad((:id::bigint * 4 + 3)::text, 26, '0')
 WHERE holder = 'settlement-main' AND bucket = '00' RETURNING amount AS settlement \gset
UPDATE balances SET amount = amount + {fee}, entries = entries + 1, last_entry_id = 'ent_' || lpad((:id::bigint * 4 + 1)::text, 26, '0')
 WHERE holder = 'fees' AND bucket = '00' RETURNING amount AS fees \gset
INSERT INTO entries (holder, id, bucket, amount, balance_after, kind, resource_id, end_to_end_id, transfer_id, created_at) VALUES
 ('acc_hot', 'ent_' || lpad((:id::bigint * 4)::text, 26, '0'), 'available', {net}, :available::bigint, 'charge', 'chg_' || lpad(:id::text, 26, '0'),
 'E12345678202601020304' || lpad(:id::text, 11, '0'), 'trf_' || lpad((:id::bigint * 2)::text, 26, '0'), 1767323045678901),
 ('fees', 'ent_' || lpad((:id::bigint * 4 + 1)::text, 26, '0'), '00', {fee}, :fees::bigint, 'fee', 'chg_' || lpad(:id::text, 26, '0'),
 'E12345678202601020304' || lpad(:id::text, 11, '0'), 'trf_' || lpad((:id::bigint * 2 + 1)::text, 26, '0'), 1767323045678901),
 ('settlement-main', 'ent_' || lpad((:id::bigint * 4 + 2)::text, 26, '0'), '00', -{net}, :settlement::bigint, 'charge',
 'chg_' || lpad(:id::text, 26, '0'), 'E12345678202601020304' || lpad(:id::text, 11, '0'),
 'trf_' || lpad((:id::bigint * 2)::text, 26, '0'), 1767323045678901),
 ('settlement-main', 'ent_' || lpad((:id::bigint * 4 + 3)::text, 26, '0'), '00', -{fee}, :settlement::bigint, 'fee',
 'chg_' || lpad(:id::text, 26, '0'), 'E12345678202601020304' || lpad(:id::text, 11, '0'),
 'trf_' || lpad((:id::bigint * 2 + 1)::text, 26, '0'), 1767323045678901);
UPDATE event_counters SET last_sequence = last_sequence + 1 WHERE account_id = 'acc_hot'
 RETURNING last_sequence AS sequence \gset
INSERT INTO events (account_id, sequence, id, type, resource_id, data, created_at)
 VALUES ('acc_hot', :sequence::bigint, 'evt_' || lpad(:id::text, 26, '0'), 'charge.paid', 'chg_' || lpad(:id::text, 26, '0'),
 convert_to('{event}', 'UTF8'), 1767323045678901);
COMMIT;
