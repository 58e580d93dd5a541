//! The rules of the audit for infractions: what they hold is blocked, what they took of pending money is marked, and where somebody
//! lacks something there is nothing left to take.

/// Each takes the greatest number of rows as its only value.
pub(super) const RULES: [&str; 6] = [
    // What is blocked is what infractions hold.
    "SELECT 'blocked of ' || coalesce(m.holder, b.account_id), CAST(coalesce(b.total, 0) AS BIGINT), coalesce(m.amount, 0) FROM (\
     SELECT holder, amount FROM balances WHERE bucket = 'blocked') AS m FULL JOIN (\
     SELECT account_id, sum(held) AS total FROM blocks GROUP BY account_id) AS b ON b.account_id = m.holder \
     WHERE coalesce(b.total, 0) <> coalesce(m.amount, 0) LIMIT ?",
    // Each of them holds what it moved there and has not moved out again.
    "SELECT 'blocked for ' || coalesce(b.infraction_id, e.resource_id), coalesce(b.held, 0), coalesce(e.total, 0) FROM (\
     SELECT account_id, infraction_id, held FROM blocks WHERE held > 0) AS b FULL JOIN (\
     SELECT holder, resource_id, CAST(sum(amount) AS BIGINT) AS total FROM entries \
     WHERE bucket = 'blocked' AND substr(resource_id, 1, 4) = 'inf_' GROUP BY holder, resource_id HAVING sum(amount) <> 0) AS e ON e.holder = b.account_id AND e.resource_id = b.infraction_id \
     WHERE coalesce(b.held, 0) <> coalesce(e.total, 0) LIMIT ?",
    // A lost infraction returned what it says, and no other returned anything.
    "SELECT 'returned for ' || e.resource_id, coalesce(i.returned, 0), e.total FROM (\
     SELECT holder, resource_id, CAST(-sum(amount) AS BIGINT) AS total FROM entries \
     WHERE bucket = 'blocked' AND kind = 'infraction_returned' AND substr(resource_id, 1, 4) = 'inf_' GROUP BY holder, resource_id) AS e \
     LEFT JOIN infractions AS i ON i.account_id = e.holder AND i.id = e.resource_id WHERE coalesce(i.returned, 0) <> e.total LIMIT ?",
    // Where less is held than there is to hold, there was nothing left to take.
    "SELECT 'left in ' || m.holder || '/' || m.bucket || ' of who lacks it', CAST(0 AS BIGINT), m.amount FROM balances AS m \
     WHERE m.bucket IN ('available', 'pending') AND m.amount > 0 AND EXISTS (\
     SELECT 1 FROM blocks AS b WHERE b.account_id = m.holder AND b.held < b.max_amount) LIMIT ?",
    // What a Pix brought into `pending` is what its release says; what infractions gave back to it is nothing new.
    "SELECT 'waiting of ' || e.end_to_end_id, coalesce(r.amount, 0), e.total FROM (\
     SELECT holder, end_to_end_id, CAST(sum(amount) AS BIGINT) AS total FROM entries \
     WHERE bucket = 'pending' AND amount > 0 AND kind <> 'infraction_released' AND end_to_end_id IS NOT NULL GROUP BY holder, end_to_end_id) AS e \
     LEFT JOIN releases AS r ON r.account_id = e.holder AND r.end_to_end_id = e.end_to_end_id \
     WHERE e.total <> coalesce(r.amount, 0) LIMIT ?",
    // What is pending is what waits for its release, less what infractions took of it before.
    "SELECT 'pending of ' || coalesce(m.holder, r.account_id), CAST(coalesce(r.total, 0) - coalesce(m.taken, 0) AS BIGINT), coalesce(m.amount, 0) \
     FROM (SELECT holder, amount, taken FROM balances WHERE bucket = 'pending') AS m FULL JOIN (\
     SELECT account_id, sum(amount) AS total FROM releases WHERE released_at IS NULL GROUP BY account_id) AS r ON r.account_id = m.holder \
     WHERE coalesce(r.total, 0) - coalesce(m.taken, 0) <> coalesce(m.amount, 0) LIMIT ?",
];
