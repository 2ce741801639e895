-- What was paid back of a recorded payment. One that was paid back in full is REFUNDED and counts no more.
alter table payments add column refunded_amount jsonb;
alter table payments no force row level security; -- the owner fills in every tenant's
update payments set refunded_amount = jsonb_build_object('quantity', '0', 'currency', amount ->> 'currency');
alter table payments force row level security;
alter table payments
  alter column refunded_amount set not null,
  add check ((refunded_amount ->> 'quantity')::numeric between 0 and (amount ->> 'quantity')::numeric),
  drop constraint payments_result_check,
  add constraint payments_result_check check (result in ('AUTHORIZED', 'CANCELLED', 'REFUNDED'));
