-- Whether invoices that wait for it have yet to be computed with what was said last. Without it a worker that dies between storing an
-- answer and computing the invoices would leave them as they are.
alter table tax_answers add column to_compute boolean not null default false;
create index tax_answers_to_compute on tax_answers (platform_id, environment) where to_compute;
