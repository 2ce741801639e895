-- Since when a DRAFT invoice waits for another one that it is combined with and that cannot be billed.
alter table invoices add column combine_fault_at timestamptz;
