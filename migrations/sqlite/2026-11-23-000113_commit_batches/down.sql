DROP TABLE commit_batches;
