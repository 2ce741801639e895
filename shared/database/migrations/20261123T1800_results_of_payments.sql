-- A first payment is kept with whatever became of it; only one that is AUTHORIZED pays.
alter table payments
  drop constraint payments_result_check,
  add constraint payments_result_check
    check (result in ('AUTHORIZED', 'PENDING', 'REFUSED', 'ERROR', 'CANCELLED', 'REFUNDED')) not valid;
