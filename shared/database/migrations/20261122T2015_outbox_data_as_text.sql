-- The resource of a notice is written once and read whole, never searched: kept as the text it is, PostgreSQL checks it and no longer
-- takes it apart and puts it together again. Of an invoice that was a third of what its notice cost.
alter table outbox alter column data type json using data::json;
