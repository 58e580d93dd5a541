-- For reconciliation alone: a page of one acquirer's payments is read along it and ends with the page. New payments are added at its end.
DROP INDEX payments_by_time;
CREATE INDEX payments_by_time ON payments (acquirer, paid_at, end_to_end_id);
