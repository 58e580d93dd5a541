-- Finds open and unmatched callbacks by their names, so that a repeat updates the stored row. The names of one callback can be too
-- long for a B-tree.
CREATE INDEX notices_named ON notices USING hash (body) WHERE state <> 'done';
