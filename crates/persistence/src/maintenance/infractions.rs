//! The audit rules for infractions: the blocked amounts, and the amounts seized from pending money. An account with an under-funded block
//! must have no other money.

/// Each rule has one parameter: the greatest number of rows.
pub(super) const RULES: [&str; 6] = [
    // The blocked balance is the sum of the open infractions' blocks.
    "SELECT 'blocked of ' || coalesce(m.holder, b.account_id), CAST(coalesce(b.total, 0) AS BIGINT), coalesce(m.amount, 0) FROM (\
     SELECT holder, amount FROM balances WHERE bucket = 'blocked') AS m FULL JOIN (\
     SELECT account_id, sum(held) AS total FROM blocks GROUP BY account_id) AS b ON b.account_id = m.holder \
     WHERE coalesce(b.total, 0) <> coalesce(m.amount, 0) LIMIT ?",
    // Each block is the amount that moved into it less the amount that moved out again.
    "SELECT 'blocked for ' || coalesce(b.infraction_id, e.resource_id), coalesce(b.held, 0), coalesce(e.total, 0) FROM (\
     SELECT account_id, infraction_id, held FROM blocks WHERE held > 0) AS b FULL JOIN (\
     SELECT holder, resource_id, CAST(sum(amount) AS BIGINT) AS total FROM entries \
     WHERE bucket = 'blocked' AND substr(resource_id, 1, 4) = 'inf_' GROUP BY holder, resource_id HAVING sum(amount) <> 0) AS e ON e.holder = b.account_id AND e.resource_id = b.infraction_id \
     WHERE coalesce(b.held, 0) <> coalesce(e.total, 0) LIMIT ?",
    // The amount that left `blocked` as returned is the amount that the infraction records. Only a lost infraction records such an amount.
    "SELECT 'returned for ' || e.resource_id, coalesce(i.returned, 0), e.total FROM (\
     SELECT holder, resource_id, CAST(-sum(amount) AS BIGINT) AS total FROM entries \
     WHERE bucket = 'blocked' AND kind = 'infraction_returned' AND substr(resource_id, 1, 4) = 'inf_' GROUP BY holder, resource_id) AS e \
     LEFT JOIN infractions AS i ON i.account_id = e.holder AND i.id = e.resource_id WHERE coalesce(i.returned, 0) <> e.total LIMIT ?",
    // An account with an under-funded block has no money left in `available` or `pending`.
    "SELECT 'left in ' || m.holder || '/' || m.bucket || ' beside an under-funded block', CAST(0 AS BIGINT), m.amount FROM balances AS m \
     WHERE m.bucket IN ('available', 'pending') AND m.amount > 0 AND EXISTS (\
     SELECT 1 FROM blocks AS b WHERE b.account_id = m.holder AND b.held < b.max_amount) LIMIT ?",
    // The amount that a Pix brought into `pending` is the amount of its release. Amounts that returned from blocks do not count.
    "SELECT 'waiting of ' || e.end_to_end_id, coalesce(r.amount, 0), e.total FROM (\
     SELECT holder, end_to_end_id, CAST(sum(amount) AS BIGINT) AS total FROM entries \
     WHERE bucket = 'pending' AND amount > 0 AND kind <> 'infraction_released' AND end_to_end_id IS NOT NULL GROUP BY holder, end_to_end_id) AS e \
     LEFT JOIN releases AS r ON r.account_id = e.holder AND r.end_to_end_id = e.end_to_end_id \
     WHERE e.total <> coalesce(r.amount, 0) LIMIT ?",
    // The pending balance is the sum of the open releases less the amount that infractions seized from the balance.
    "SELECT 'pending of ' || coalesce(m.holder, r.account_id), CAST(coalesce(r.total, 0) - coalesce(m.seized, 0) AS BIGINT), coalesce(m.amount, 0) \
     FROM (SELECT holder, amount, seized FROM balances WHERE bucket = 'pending') AS m FULL JOIN (\
     SELECT account_id, sum(amount) AS total FROM releases WHERE released_at IS NULL GROUP BY account_id) AS r ON r.account_id = m.holder \
     WHERE coalesce(r.total, 0) - coalesce(m.seized, 0) <> coalesce(m.amount, 0) LIMIT ?",
];
