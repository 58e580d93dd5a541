-- Open and unmatched callbacks by their names: a repeat meets the row that is there. The names of one callback can be longer than a
-- B-tree takes.
CREATE INDEX notices_named ON notices USING hash (body) WHERE state <> 'done';
