DROP INDEX notices_unmatched;
