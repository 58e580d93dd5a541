-- The rows that payments find: pending charges, and the contended rows.
INSERT INTO balances VALUES ('acc_hot', 'available', 0, 0, NULL), ('settlement-main', '00', 0, 0, NULL), ('fees', '00', 0, 0, NULL)
 ON CONFLICT DO NOTHING;
INSERT INTO event_counters VALUES ('acc_hot', 0) ON CONFLICT DO NOTHING;
INSERT INTO charges (account_id, id, txid, amount, fee, expires_in_s, external_id, origin, status, acquirer, copy_paste, expires_at,
 refunding, refunded, open_infractions, created_at, version)
 SELECT 'acc_hot', 'chg_' || lpad(id::text, 26, '0'), lpad(id::text, 26, '0'), {amount}, {fee}, 3600, 'order-' || id::text, 'api',
 'pending', 'main', '00020126' || lpad(id::text, 26, '0') || '6304ABCD', 1767326645678901, 0, 0, 0, 1767323045678901, 1
 FROM generate_series({first}::bigint, {last}::bigint) AS id
