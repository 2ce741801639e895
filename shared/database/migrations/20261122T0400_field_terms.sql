-- The terms of the field for what earlier migrations named in words of our own.
alter table alert_looks rename to alert_evaluations;
alter index alert_looks_pkey rename to alert_evaluations_pkey;
alter table invoices rename column cut_at to cutoff_at;
alter table invoices rename column fingerprint to inputs_hash;
