-- Finds open and unmatched callbacks by their names, so that a repeat updates the stored row. The names of one callback can be too
-- long for a B-tree.
CREATE INDEX callbacks_named ON callbacks USING hash (body) WHERE state <> 'done';
