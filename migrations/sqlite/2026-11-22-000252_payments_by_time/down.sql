DROP INDEX payments_by_time;
CREATE INDEX payments_by_time ON payments (paid_at);
