//! The audit rules for payouts, refunds, splits and crypto withdrawals: the ledger moved the amounts that the records state.
//!
//! Each rule sums the entries that name a record, and computes the expected sum from the status of the record.

/// Begins a query, and defines its table `m`: one row for each payout, refund, infraction and crypto withdrawal that has entries. A row has
/// the id of the record, the id of its merchant's account, and four sums of its entries:
/// - `held`: the amount in transit;
/// - `sent`: the credits of `settlement:<acquirer>` and `crypto:<processor>`;
/// - `kept`: the amount in `fees`;
/// - `back`: the debits of `settlement:<acquirer>`, as a positive amount.
macro_rules! moved {
    () => {
        "WITH m AS (SELECT resource_id, max(CASE WHEN substr(holder, 1, 4) = 'acc_' THEN holder END) AS account, \
         CAST(sum(CASE WHEN bucket = 'in_transit' THEN amount ELSE 0 END) AS BIGINT) AS held, \
         CAST(sum(CASE WHEN (substr(holder, 1, 11) = 'settlement:' OR substr(holder, 1, 7) = 'crypto:') AND amount > 0 THEN amount ELSE 0 END) AS BIGINT) AS sent, \
         CAST(sum(CASE WHEN holder = 'fees' THEN amount ELSE 0 END) AS BIGINT) AS kept, \
         CAST(sum(CASE WHEN substr(holder, 1, 11) = 'settlement:' AND amount < 0 THEN -amount ELSE 0 END) AS BIGINT) AS back \
         FROM entries WHERE substr(resource_id, 1, 4) IN ('pyt_', 'rfd_', 'inf_', 'cwd_') GROUP BY resource_id) \
         SELECT what, expected, stored FROM ("
    };
}

/// Selects a stored and an expected amount for each record of one kind. The stored amount is a sum of `moved!`. The expected amount is an
/// SQL expression over the record's row, which has the alias `t`.
macro_rules! amount {
    ($label:literal $stored:literal of $table:literal $prefix:literal is $expected:literal) => {
        concat!(
            "SELECT '",
            $label,
            " ' || m.resource_id AS what, CAST(coalesce(",
            $expected,
            ", 0) AS BIGINT) AS expected, m.",
            $stored,
            " AS stored FROM m LEFT JOIN ",
            $table,
            " AS t ON t.account_id = m.account AND t.id = m.resource_id WHERE substr(m.resource_id, 1, 4) = '",
            $prefix,
            "'"
        )
    };
}

/// Selects a stored and an expected amount for each charge with a refund or an infraction. The stored amount is a column of the charge. The
/// expected amount is the sum of two parts:
/// - `of_charge` of the refunds with the given statuses;
/// - the given expression of the charge's infractions.
macro_rules! of_charge {
    ($label:literal $stored:literal is $statuses:literal and $lost:literal) => {
        concat!(
            "SELECT '",
            $label,
            " ' || c.id AS what, CAST(sum(p.part) AS BIGINT) AS expected, c.",
            $stored,
            " AS stored FROM (\
             SELECT t.account_id, t.charge_id FROM m JOIN refunds AS t ON t.account_id = m.account AND t.id = m.resource_id UNION \
             SELECT t.account_id, t.charge_id FROM m JOIN infractions AS t ON t.account_id = m.account AND t.id = m.resource_id) AS k \
             JOIN (SELECT account_id, charge_id, CASE WHEN status IN ",
            $statuses,
            " THEN of_charge ELSE 0 END AS part FROM refunds UNION ALL SELECT account_id, charge_id, ",
            $lost,
            " FROM infractions) AS p ON p.account_id = k.account_id AND p.charge_id = k.charge_id \
             JOIN charges AS c ON c.account_id = k.account_id AND c.id = k.charge_id GROUP BY c.id, c.",
            $stored
        )
    };
}

/// Ends a query: selects the rows whose expected and stored amounts differ.
macro_rules! differing {
    () => {
        ") AS d WHERE expected <> stored LIMIT ?"
    };
}

/// Begins a query, and defines its table `parts`: one row for each beneficiary's part of a paid charge. Each step of the recursion removes
/// the last element of both lists, shares and parts. It uses `rtrim`, because both engines have this function. The first row of a charge
/// has an empty `recipient`.
macro_rules! parts {
    () => {
        "WITH RECURSIVE parts (charge, pix, shares, list, recipient, part) AS (\
         SELECT c.id, c.end_to_end_id, rtrim(c.split, '0123456789.'), c.split_parts, '', CAST(0 AS BIGINT) \
         FROM payments AS p JOIN charges AS c ON c.account_id = p.account_id AND c.id = p.charge_id \
         WHERE p.role = 'settles' AND c.split_parts IS NOT NULL \
         UNION ALL SELECT charge, pix, rtrim(rtrim(substr(shares, 1, length(shares) - 31), ','), '0123456789.'), \
         rtrim(rtrim(list, '0123456789'), ','), substr(shares, length(shares) - 30, 30), \
         CAST(substr(list, length(rtrim(list, '0123456789')) + 1) AS BIGINT) FROM parts WHERE list <> '') "
    };
}

/// The rules. Each selects its violations, with the columns that `verify.rs` describes. Its parameter is the greatest number of rows.
pub(super) const RULES: [&str; 5] = [
    // A payout in flight has its amount and fee in transit. A completed payout has credited the amount to `settlement` and the fee to
    // `fees`, even if it was returned later.
    concat!(
        moved!(),
        amount!("in transit for" "held" of "payouts" "pyt_" is "CASE WHEN t.status IN ('pending', 'processing') THEN t.amount + t.fee END"),
        " UNION ALL ",
        amount!("sent by" "sent" of "payouts" "pyt_" is "CASE WHEN t.status IN ('completed', 'reversed') THEN t.amount END"),
        " UNION ALL ",
        amount!("fee of" "kept" of "payouts" "pyt_" is "CASE WHEN t.status IN ('completed', 'reversed') THEN t.fee END"),
        " UNION ALL ",
        amount!("returned amount of" "back" of "payouts" "pyt_" is "t.returned"),
        differing!()
    ),
    // A crypto withdrawal in flight has its amount and fee in transit. A completed one has credited the amount to `crypto:<processor>` and
    // the fee to `fees`.
    concat!(
        moved!(),
        amount!("in transit for" "held" of "crypto_withdrawals" "cwd_" is "CASE WHEN t.status IN ('pending', 'processing') THEN t.amount + t.fee END"),
        " UNION ALL ",
        amount!("sent by" "sent" of "crypto_withdrawals" "cwd_" is "CASE WHEN t.status = 'completed' THEN t.amount END"),
        " UNION ALL ",
        amount!("fee of" "kept" of "crypto_withdrawals" "cwd_" is "CASE WHEN t.status = 'completed' THEN t.fee END"),
        differing!()
    ),
    // A refund in flight has its amount in transit. A completed refund has credited the amount to `settlement`.
    concat!(
        moved!(),
        amount!("in transit for" "held" of "refunds" "rfd_" is "CASE WHEN t.status IN ('pending', 'processing') THEN t.amount END"),
        " UNION ALL ",
        amount!("sent by" "sent" of "refunds" "rfd_" is "CASE WHEN t.status = 'completed' THEN t.amount END"),
        differing!()
    ),
    // A charge stores two amounts. `refunding` is the sum of its refunds in flight. `refunded` is the sum of its completed refunds, plus
    // the refunded parts of its lost infractions.
    concat!(
        moved!(),
        of_charge!("refunds in flight of" "refunding" is "('pending', 'processing')" and "0"),
        " UNION ALL ",
        of_charge!("completed refunds of" "refunded" is "('completed')" and "coalesce(refunded, 0)"),
        differing!()
    ),
    // Every beneficiary of a paid charge was credited exactly the part that the charge stores, and no other account was credited.
    concat!(
        parts!(),
        "SELECT 'part of ' || coalesce(s.recipient, e.holder) || ' in ' || coalesce(s.charge, e.end_to_end_id), \
         coalesce(s.part, 0), coalesce(e.total, 0) \
         FROM (SELECT charge, pix, recipient, part FROM parts WHERE recipient <> '') AS s FULL JOIN (\
         SELECT end_to_end_id, holder, CAST(sum(amount) AS BIGINT) AS total FROM entries \
         WHERE kind = 'split' AND amount > 0 AND end_to_end_id IS NOT NULL GROUP BY end_to_end_id, holder) AS e \
         ON e.end_to_end_id = s.pix AND e.holder = s.recipient WHERE coalesce(s.part, 0) <> coalesce(e.total, 0) LIMIT ?"
    ),
];
