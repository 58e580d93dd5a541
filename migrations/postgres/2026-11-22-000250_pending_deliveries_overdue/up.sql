-- What is overdue the longest, over all lanes. An index of an expression, so that nothing but the look for what is due uses it: a claim
-- in one lane would walk past all others along it.
CREATE INDEX pending_deliveries_overdue ON pending_deliveries ((0 + due_at));
