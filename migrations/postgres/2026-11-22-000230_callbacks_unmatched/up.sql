-- Callbacks that an operator has to look into, newest last.
CREATE INDEX callbacks_unmatched ON callbacks (id) WHERE state = 'unmatched';
