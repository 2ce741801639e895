-- Up to when the usage of an invoice is counted; null where nothing of it is metered, and on those not computed since.
alter table invoices add column usage_counted_until timestamptz;
