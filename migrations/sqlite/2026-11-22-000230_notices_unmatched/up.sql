-- Callbacks that an operator has to look into, newest last.
CREATE INDEX notices_unmatched ON notices (id) WHERE state = 'unmatched';
