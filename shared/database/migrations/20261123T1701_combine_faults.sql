-- Why a DRAFT invoice waits beyond its time for another one that it is combined with.
alter table invoices add column combine_fault text;
