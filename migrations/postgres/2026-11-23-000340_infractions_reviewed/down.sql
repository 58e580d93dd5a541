DROP INDEX infractions_for_review;
ALTER TABLE infractions DROP COLUMN review_since;
ALTER TABLE infractions DROP COLUMN review_reason;
