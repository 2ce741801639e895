-- The lines of a FINAL invoice change no more than it does, which is looked up once a statement and no longer once a line.
drop trigger invoice_lines_final on invoice_lines;

create function keep_lines_of_final_invoices() returns trigger language plpgsql as $$
declare frozen text;
begin
  select v.id into frozen from (select distinct platform_id, environment, invoice_id from changed) l
    join invoices v on v.platform_id = l.platform_id and v.environment = l.environment and v.id = l.invoice_id
    where v.status = 'FINAL' limit 1;
  if found then
    raise exception 'the lines of invoice % are FINAL and cannot change', frozen using errcode = 'restrict_violation';
  end if;
  return null;
end $$;
create trigger invoice_lines_final_insert after insert on invoice_lines referencing new table as changed
  for each statement execute function keep_lines_of_final_invoices();
create trigger invoice_lines_final_update after update on invoice_lines referencing old table as changed
  for each statement execute function keep_lines_of_final_invoices();
create trigger invoice_lines_final_moved after update on invoice_lines referencing new table as changed
  for each statement execute function keep_lines_of_final_invoices();
create trigger invoice_lines_final_delete after delete on invoice_lines referencing old table as changed
  for each statement execute function keep_lines_of_final_invoices();
