-- The reason and the instant of the mark for review. The mark stays after the operator's decision.
ALTER TABLE infractions ADD COLUMN review_reason TEXT
    CHECK (review_reason IN ('unexplained_return', 'missing_return', 'reopened_unseen'));
ALTER TABLE infractions ADD COLUMN review_since INTEGER CHECK ((review_since IS NULL) = (review_reason IS NULL));
-- The infractions that wait for an operator.
CREATE INDEX infractions_for_review ON infractions (id)
    WHERE review_reason IS NOT NULL AND status IN ('open', 'under_review');
