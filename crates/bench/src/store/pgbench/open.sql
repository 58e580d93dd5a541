-- Commit 1 of a creation.
BEGIN;
INSERT INTO idempotency_records (account_id, key, fingerprint, resource_id, fence, lease_until, due_at, created_at)
 VALUES ('acc_' || lpad(:shop::text, 26, '0'), 'chg_' || lpad(:id::text, 26, '0'), decode(repeat('01', 32), 'hex'),
 'chg_' || lpad(:id::text, 26, '0'), 1, 1767323075678901, 1767323075678901, 1767323045678901) ON CONFLICT DO NOTHING;
INSERT INTO account_reservations (account_id, space, value, owner)
 VALUES ('acc_' || lpad(:shop::text, 26, '0'), 'charge.external_id', 'order-' || :id::text,
 'chg_' || lpad(:id::text, 26, '0')) ON CONFLICT DO NOTHING;
INSERT INTO global_reservations (space, value, account_id, owner)
 VALUES ('txid', lpad(:id::text, 26, '0'), 'acc_' || lpad(:shop::text, 26, '0'), 'chg_' || lpad(:id::text, 26, '0'))
 ON CONFLICT DO NOTHING;
INSERT INTO charges (account_id, id, txid, amount, fee, expires_in_s, external_id, origin, status, acquirer, refunding, refunded,
 open_infractions, created_at, version)
 VALUES ('acc_' || lpad(:shop::text, 26, '0'), 'chg_' || lpad(:id::text, 26, '0'), lpad(:id::text, 26, '0'), {amount}, {fee},
 3600, 'order-' || :id::text, 'api', 'creating', 'main', 0, 0, 0, 1767323045678901, 1);
COMMIT;
