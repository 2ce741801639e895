-- Reads and writes go on while stored rows are checked.
alter table invoices validate constraint invoices_combined_into;
alter table invoices validate constraint invoices_combined_status;
