DROP INDEX infractions_in_status;
CREATE INDEX infractions_in_status ON infractions (account_id, status, id);
