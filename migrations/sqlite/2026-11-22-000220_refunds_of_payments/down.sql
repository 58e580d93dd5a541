DROP INDEX refunds_beyond;
ALTER TABLE refunds DROP COLUMN of_charge;
