-- Long periods of an invoice come packed, as one text (api/modules/invoices/stored-content.ts): PostgreSQL would try in vain to make it
-- shorter. Of a FINAL invoice that text never changes. What its periods show of their tax may be split, which then stands beside it.
alter table invoices alter column content set storage external;

create or replace function issued_content(content jsonb) returns jsonb language sql immutable as $$
  select (content - 'other_custom_fields' - 'tax_categories' - 'periods' - 'tax_shares') || jsonb_build_object(
    'base', (select sum((t -> 'base_amount' ->> 'quantity')::numeric) from jsonb_array_elements(content -> 'tax_categories') t),
    'tax', (select sum((t -> 'tax_amount' ->> 'quantity')::numeric) from jsonb_array_elements(content -> 'tax_categories') t),
    'periods', case jsonb_typeof(content -> 'periods') when 'string' then content -> 'periods' else (
      select jsonb_agg((p.value - 'tax_categories' - 'groups') || jsonb_build_object('groups', (
        select jsonb_agg((g.value - 'tax_categories' - 'lines') || jsonb_build_object('lines', (
          select jsonb_agg(l.value - 'tax_categories' order by l.ordinality)
          from jsonb_array_elements(g.value -> 'lines') with ordinality l)) order by g.ordinality)
        from jsonb_array_elements(p.value -> 'groups') with ordinality g)) order by p.ordinality)
      from jsonb_array_elements(content -> 'periods') with ordinality p) end)
$$;
