DROP INDEX notices_named;
