-- Under row-level security no pattern may use an index, since what compares patterns might tell of rows that the policy hides. So the
-- owner of the table looks for a part of a number, through one function that names the tenant of the transaction itself and returns ids
-- of that tenant alone.

-- Row-level security is forced, so the owner sees no rows without this. It serves no process: each logs in as another role, which owns
-- nothing and cannot become the owner.
create policy owner_finds_numbers on invoices for select to current_user using (true);

-- Ids of up to `most` invoices of the tenant whose number matches a pattern of LIKE.
create function invoices_by_number(pattern text, ignore_case boolean, most integer) returns setof text
  language plpgsql stable security definer set search_path = pg_catalog, public
  -- Planned for the pattern at hand: whether the index is worth its while depends on it.
  set plan_cache_mode = force_custom_plan as $$
declare
  platform constant text := public.current_platform();
  env constant text := public.current_environment();
begin
  if ignore_case then
    return query select i.id from public.invoices i
      where i.platform_id = platform and i.environment = env and i.invoice_number ilike pattern limit most;
  else
    return query select i.id from public.invoices i
      where i.platform_id = platform and i.environment = env and i.invoice_number like pattern limit most;
  end if;
end $$;
revoke execute on function invoices_by_number(text, boolean, integer) from public;
grant execute on function invoices_by_number(text, boolean, integer) to millrace_app;
