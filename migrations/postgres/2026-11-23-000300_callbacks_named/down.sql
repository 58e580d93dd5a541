DROP INDEX callbacks_named;
