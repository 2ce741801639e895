-- A part of an invoice's number is found by its groups of three characters (see the next migration). By itself, since reads would wait
-- for an index that is made in the transaction that alters its table.
create extension if not exists pg_trgm;

create index invoices_number_parts on invoices using gin (invoice_number gin_trgm_ops);
