-- Customers that are CLOSED: they take nothing new, and may come back.
alter table customers
  drop constraint customers_status_check,
  add constraint customers_status_check check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'CLOSED', 'ARCHIVED'));
