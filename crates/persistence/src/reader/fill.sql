DO $$ DECLARE name TEXT; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', name);
    END LOOP;
END $$;

CREATE FUNCTION name_of(prefix TEXT, n INT) RETURNS TEXT LANGUAGE sql AS $$ SELECT prefix || lpad(n::TEXT, 5, '0') $$;

INSERT INTO accounts (id, email, name, document, status, kyc, features, charge_limit, payout_limit, release_delay_s,
    pix_in_fixed, pix_in_percentage, pix_out_fixed, pix_out_percentage, crypto_in_fixed, crypto_in_percentage,
    crypto_out_fixed, crypto_out_percentage, created_at, version)
SELECT name_of('acc_', n), 'e', 'n', 'd', 'active', 'approved', '', 0, 0, 0, 0, '0', 0, '0', 0, '0', 0, '0', n, 1
FROM generate_series(1, 10000) AS n;
INSERT INTO api_keys SELECT name_of('k', n), name_of('key_', n), 'acc_a', 'n', decode(repeat('00', 32), 'hex'), '', NULL, '', NULL, n, 1
FROM generate_series(1, 200) AS n;
INSERT INTO sessions (id, user_id, keyed_hash, stage, address, agent, created_at, expires_at, seen_at, wrong_codes, sent_without_code, version)
SELECT name_of('ses_', n), 'usr_a', decode(repeat('00', 32), 'hex'), 'complete', '', '', n, n, n, 0, 0, 1 FROM generate_series(1, 10000) AS n;
INSERT INTO idempotency_records (account_id, key, fingerprint, resource_id, fence, lease_until, due_at, created_at)
SELECT 'acc_a', name_of('k', n), decode(repeat('00', 32), 'hex'), 'r', 1, n, n, n FROM generate_series(1, 10000) AS n;
INSERT INTO callbacks SELECT name_of('ntc_', n), 'main', CAST('received ' || n AS BYTEA), n, 'waiting', 0, n, 1 FROM generate_series(1, 10000) AS n;

INSERT INTO charges (account_id, id, txid, amount, fee, payer_document, expires_in_s, origin, status, acquirer, copy_paste, expires_at, paid_at,
    end_to_end_id, ended_at, created_at, version)
SELECT 'acc_a', name_of('chg_', n), name_of('t', n), 100, 0, name_of('', n % 100), 60, 'api', status, 'main', 'c', n,
    CASE WHEN status IN ('paid', 'refunded') THEN n END, CASE WHEN status IN ('paid', 'refunded') THEN name_of('E', n) END,
    CASE WHEN status IN ('refunded', 'expired', 'cancelled') THEN n END, n, 1
FROM (SELECT n, CASE WHEN n <= 20 THEN 'refunded' WHEN n <= 40 THEN 'expired' WHEN n <= 60 THEN 'cancelled' WHEN n % 2 = 0 THEN 'pending'
    ELSE 'paid' END AS status FROM generate_series(1, 10000) AS n) AS c;
INSERT INTO payments SELECT 'acc_a', name_of('E', n), name_of('chg_', n), 100, n, 'main', 'settles', n FROM generate_series(1, 10000) AS n;
INSERT INTO releases SELECT 'acc_a', name_of('E', n), name_of('chg_', n), 100, n, NULL, 1 FROM generate_series(1, 10000) AS n;
INSERT INTO payouts (account_id, id, amount, fee, pix_key, pix_key_type, origin, returned, status, acquirer, sent_at, end_to_end_id,
    completed_at, failure, ended_at, due_at, attempts, created_at, version)
SELECT 'acc_a', name_of('pay_', n), 100, 0, 'k', 'evp', 'api', CASE status WHEN 'reversed' THEN 100 ELSE 0 END, status, 'main', n,
    name_of('E', n), CASE WHEN status IN ('completed', 'reversed') THEN n END, CASE status WHEN 'failed' THEN 'f' END,
    CASE WHEN status IN ('failed', 'reversed') THEN n END, CASE status WHEN 'processing' THEN n END, 0, n, 1
FROM (SELECT n, CASE WHEN n <= 20 THEN 'failed' WHEN n <= 40 THEN 'reversed' WHEN n <= 60 THEN 'processing' ELSE 'completed' END AS status
    FROM generate_series(1, 10000) AS n) AS p;
INSERT INTO refunds (account_id, id, charge_id, end_to_end_id, acquirer, amount, status, sent_at, due_at, attempts, created_at, version)
SELECT 'acc_a', name_of('rfn_', n), name_of('chg_', n), name_of('E', n), 'main', 1, 'processing', n, n, 0, n, 1
FROM generate_series(1, 10000) AS n;

-- Rare kinds and buckets come first, so that a walk along the account would visit all other entries.
INSERT INTO entries
SELECT 'acc_a', name_of('ent_', n), (ARRAY['pending', 'blocked'])[1 + n / 500], 1, n,
    (ARRAY['extra_payment', 'fee', 'split', 'release', 'payout', 'payout_failed', 'payout_reversed', 'refund', 'refund_failed',
    'infraction', 'infraction_released', 'infraction_returned', 'crypto_deposit', 'crypto_withdrawal',
    'crypto_withdrawal_failed'])[1 + n % 15], name_of('chg_', n), NULL, name_of('t', n), n
FROM generate_series(1, 600) AS n;
INSERT INTO entries SELECT 'acc_a', name_of('ent_', n), 'available', 1, n, 'charge', name_of('chg_', n), NULL, name_of('t', n), n
FROM generate_series(601, 20000) AS n;

INSERT INTO events SELECT 'acc_a', n, name_of('evt_', n), CASE WHEN n <= 20 THEN 'rare' ELSE 'charge.paid' END, name_of('chg_', n), '', n
FROM generate_series(1, 10000) AS n;
INSERT INTO webhook_endpoints (account_id, id, slot, url, events, state, state_at, epoch, secret, created_at, version)
SELECT 'acc_a', name_of('whe_', n), 0, 'u', '*', CASE WHEN n <= 20 THEN 'active' ELSE 'deleted' END, CASE WHEN n > 20 THEN n END, 0, '', n, 1
FROM generate_series(1, 10000) AS n;
INSERT INTO deliveries (account_id, endpoint_id, id, event_id, event_type, sequence, status, created_at)
SELECT 'acc_a', 'whe_00001', name_of('dlv_', n), name_of('evt_', n), 'charge.paid', n, 'pending', n FROM generate_series(1, 10000) AS n;
INSERT INTO pending_deliveries (account_id, endpoint_id, id, epoch, due_at)
SELECT 'acc_a', 'whe_00001', name_of('dlv_', n), 0, n FROM generate_series(1, 10000) AS n;
INSERT INTO delivery_attempts SELECT 'acc_a', name_of('dlv_', n), fence, n, 500, 1, NULL, NULL
FROM generate_series(1, 10000) AS n CROSS JOIN generate_series(1, 2) AS fence;

INSERT INTO infractions (account_id, id, charge_id, acquirer, upstream_id, end_to_end_id, situation, amount, max_amount, status, state_at,
    deadline_at, due_at, attempts, opened_at, created_at, version)
SELECT 'acc_a', name_of('inf_', n), name_of('chg_', n), 'main', name_of('u', n), name_of('E', n), 'SCAM', 1, 1,
    CASE WHEN n <= 20 THEN 'open' ELSE 'won' END, CASE WHEN n > 20 THEN n END, n, n, 0, n, n, 1 FROM generate_series(1, 10000) AS n;

INSERT INTO audit_log (id, changed_at, operator, source, host, action, subject, account_id)
SELECT name_of('aud_', n), n, 'ana', 'cli', 'h', (ARRAY['key.create', 'account.limits'])[1 + n % 2], 's', name_of('acc_', 1 + n % 50)
FROM generate_series(1, 10000) AS n;
INSERT INTO audit_log (id, changed_at, operator, source, host, action, subject, account_id)
SELECT name_of('aue_', n), n, 'ana', 'cli', 'h', (ARRAY['key.create', 'account.limits'])[1 + n % 2], 's', 'acc_a'
FROM generate_series(1, 10000) AS n;

INSERT INTO crypto_quotes (account_id, id, side, currency, amount, rate, coins, fee_rule, usdt_per_coin, coin_priced_at, brl_per_usd,
    usd_priced_at, spread, expires_at, created_at, version)
SELECT 'acc_a', name_of('cqt_', n), 'deposit', CASE WHEN n <= 20 THEN 'btc' ELSE 'trx' END, 1, '1', '1', '0 0 - -', '1', n, '1', n, '0', n, n, 1
FROM generate_series(1, 10000) AS n;
INSERT INTO crypto_deposits (account_id, id, amount, currency, origin, processor, quote_id, rate, fee_rule, coins, status, payment_id, address,
    expires_at, state_at, credited_coins, credited_gross, credited_fee, due_at, attempts, created_at, version)
SELECT 'acc_a', name_of('cdp_', n), 1, 'btc', 'api', 'now', 'q', '1', '0 0 - -', '1', 'pending', 'p', 'a', n, NULL, '0', 0, 0, n, 0, n, 1
FROM generate_series(1, 10000) AS n;
INSERT INTO crypto_payments (account_id, processor, payment_id, deposit_id, currency, coins, gross, fee, state, review_reason, created_at, version)
SELECT 'acc_a', 'now', name_of('p', n), name_of('cdp_', n / 10), 'btc', '1', 0, 0, CASE WHEN n <= 20 THEN 'review' ELSE 'credited' END,
    CASE WHEN n <= 20 THEN 'too_late' END, n, 1
FROM generate_series(1, 10000) AS n;
INSERT INTO crypto_withdrawals (account_id, id, amount, currency, address, origin, processor, quote_id, rate, fee, coins, status, sent_at,
    review_since, due_at, attempts, created_at, version)
SELECT 'acc_a', name_of('cwd_', n), 1, 'btc', 'a', 'api', 'now', 'q', '1', 0, '1', 'processing', n, CASE WHEN n <= 20 THEN n END, n, 0, n, 1
FROM generate_series(1, 10000) AS n;
