-- The rows that commit 2 finds: the result of commit 1.
INSERT INTO idempotency_records (account_id, key, fingerprint, resource_id, fence, lease_until, due_at, created_at)
 SELECT 'acc_' || lpad((id % 64 % 16)::text, 26, '0'), 'chg_' || lpad(id::text, 26, '0'), decode(repeat('01', 32), 'hex'),
 'chg_' || lpad(id::text, 26, '0'), 1, 1767323075678901, 1767323075678901, 1767323045678901
 FROM generate_series({first}::bigint, {last}::bigint) AS id;
INSERT INTO charges (account_id, id, txid, amount, fee, expires_in_s, external_id, origin, status, acquirer, refunding, refunded,
 open_infractions, created_at, version)
 SELECT 'acc_' || lpad((id % 64 % 16)::text, 26, '0'), 'chg_' || lpad(id::text, 26, '0'), lpad(id::text, 26, '0'), {amount}, {fee},
 3600, 'order-' || id::text, 'api', 'creating', 'main', 0, 0, 0, 1767323045678901, 1
 FROM generate_series({first}::bigint, {last}::bigint) AS id
