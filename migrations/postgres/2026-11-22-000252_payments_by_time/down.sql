DROP INDEX payments_by_time;
CREATE INDEX payments_by_time ON payments USING brin (paid_at) WITH (autosummarize = on);
