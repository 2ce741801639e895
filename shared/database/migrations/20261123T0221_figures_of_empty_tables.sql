-- Until a table is analyzed for the first time, PostgreSQL takes a platform for one two-hundredth of its rows, and the plans that a
-- connection then keeps read every row of a tenant where they could find one by its id. The figures say that all rows may be of one
-- platform; the first analyze puts its own in their place. Before PostgreSQL 18 only that analyze helps.
do $$
declare counted record;
begin
  if to_regproc('pg_restore_attribute_stats') is null then
    return;
  end if;
  for counted in
    select t.name, c.name as of_column
    from unnest(array['wallet_types', 'wallets', 'wallet_grants', 'wallet_grant_accounts', 'wallet_reservations', 'wallet_entries']) as t (name),
      unnest(array['platform_id', 'environment']) as c (name)
    where not exists (select from pg_stats s where s.schemaname = current_schema and s.tablename = t.name and s.attname = c.name)
  loop
    perform pg_restore_attribute_stats('schemaname', current_schema::text, 'relname', counted.name, 'attname', counted.of_column,
      'inherited', false, 'null_frac', 0::real, 'avg_width', 27, 'n_distinct', 1::real);
  end loop;
end $$;
