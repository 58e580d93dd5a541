//! The audit rules for crypto deposits: the sums credited in the ledger equal the sums of the deposit and of its payments.

/// Each rule has one parameter: the greatest number of rows.
pub(super) const RULES: [&str; 1] = [
    // The value of a deposit left the processor's ledger account once, and the charged fee is the deposit's fee. Value and fee equal the
    // sums over the payments.
    "WITH m AS (SELECT resource_id, \
     CAST(sum(CASE WHEN substr(holder, 1, 7) = 'crypto:' THEN -amount ELSE 0 END) AS BIGINT) AS gross, \
     CAST(sum(CASE WHEN holder = 'fees' THEN amount ELSE 0 END) AS BIGINT) AS fee \
     FROM entries WHERE substr(resource_id, 1, 4) = 'cdp_' GROUP BY resource_id), \
     p AS (SELECT deposit_id, CAST(sum(gross) AS BIGINT) AS gross, CAST(sum(fee) AS BIGINT) AS fee FROM crypto_payments GROUP BY deposit_id) \
     SELECT what, expected, stored FROM (\
     SELECT 'credit of ' || m.resource_id AS what, coalesce(t.credited_gross, 0) AS expected, m.gross AS stored \
     FROM m LEFT JOIN crypto_deposits AS t ON t.id = m.resource_id UNION ALL \
     SELECT 'fee of ' || m.resource_id, coalesce(t.credited_fee, 0), m.fee FROM m LEFT JOIN crypto_deposits AS t ON t.id = m.resource_id UNION ALL \
     SELECT 'payments of ' || m.resource_id, coalesce(p.gross, 0), m.gross FROM m LEFT JOIN p ON p.deposit_id = m.resource_id UNION ALL \
     SELECT 'fees of the payments of ' || m.resource_id, coalesce(p.fee, 0), m.fee FROM m LEFT JOIN p ON p.deposit_id = m.resource_id\
     ) AS d WHERE expected <> stored LIMIT ?",
];
