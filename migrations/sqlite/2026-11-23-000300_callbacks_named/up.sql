-- Finds open and unmatched callbacks by their names, so that a repeat updates the stored row.
CREATE INDEX callbacks_named ON callbacks (body) WHERE state <> 'done';
