-- An OPEN invoice gets another amount each time it is counted again. While a condition of an index named the amount, each of these updates
-- wrote an entry into every index of the table. From the next migrations on, those conditions name this column instead.
alter table invoices
  -- Of a FINAL invoice: credits are as much as its amount, or more. Such an invoice is never overdue. False of all others.
  add column nothing_due boolean not null default false;

create function set_nothing_due() returns trigger language plpgsql as $$
begin
  new.nothing_due := new.amount_including_tax <= new.credited_amount;
  return new;
end $$;
-- By its name it follows the trigger that protects FINAL invoices: no statement can set the column by itself.
create trigger invoices_nothing_due before insert or update on invoices for each row
  when (new.status = 'FINAL' and new.nothing_due is distinct from (new.amount_including_tax <= new.credited_amount))
  execute function set_nothing_due();

-- A run updates many invoices that lie together. With room for that on the page, none of the indexes changes.
alter table invoices set (fillfactor = 50);
