-- Begins with an expression, so that nothing but a list in one status uses it: an infraction that is looked up by its id along this index
-- would be a walk past all infractions of the account.
DROP INDEX infractions_in_status;
CREATE INDEX infractions_in_status ON infractions ((account_id || ''), status, id);
