-- Finds open and unmatched callbacks by their names, so that a repeat updates the stored row.
CREATE INDEX notices_named ON notices (body) WHERE state <> 'done';
