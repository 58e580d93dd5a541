DROP INDEX callbacks_unmatched;
