-- A FINAL invoice may be refreshed in what it shows besides its amounts: the custom fields copied to it, and how its tax is split
-- where a customer is exempt in part. Every amount, every line and the total of the tax stay.
create function issued_content(content jsonb) returns jsonb language sql immutable as $$
  select (content - 'other_custom_fields' - 'tax_categories' - 'periods') || jsonb_build_object(
    'base', (select sum((t -> 'base_amount' ->> 'quantity')::numeric) from jsonb_array_elements(content -> 'tax_categories') t),
    'tax', (select sum((t -> 'tax_amount' ->> 'quantity')::numeric) from jsonb_array_elements(content -> 'tax_categories') t),
    'periods', (
      select jsonb_agg((p.value - 'tax_categories' - 'groups') || jsonb_build_object('groups', (
        select jsonb_agg((g.value - 'tax_categories' - 'lines') || jsonb_build_object('lines', (
          select jsonb_agg(l.value - 'tax_categories' order by l.ordinality)
          from jsonb_array_elements(g.value -> 'lines') with ordinality l)) order by g.ordinality)
        from jsonb_array_elements(p.value -> 'groups') with ordinality g)) order by p.ordinality)
      from jsonb_array_elements(content -> 'periods') with ordinality p))
$$;

create or replace function protect_final_invoice() returns trigger language plpgsql as $$
declare
  may_change constant text[] := array[
    'payment_status', 'updated_at', 'credited_amount', 'paid_amount', 'settled_amount', 'wallet_amount', 'overdue_at', 'content'
  ];
begin
  if old.status <> 'FINAL' then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' or to_jsonb(new) - may_change is distinct from to_jsonb(old) - may_change
    or (new.content is distinct from old.content
      and issued_content(new.content) is distinct from issued_content(old.content)) then
    raise exception 'invoice % is FINAL and cannot change', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
