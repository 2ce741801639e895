-- An invoice that gives money back can be credited too: its credit notes charge what it gave. What is credited of it is below zero.
alter table invoices drop constraint invoices_credited_amount_check;
alter table invoices add constraint invoices_credited_amount_check check (credited_amount >= 0 or amount_including_tax < 0) not valid;
