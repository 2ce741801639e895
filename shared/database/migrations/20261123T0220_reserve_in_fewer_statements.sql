-- Reservations in fewer statements: the accounts of all grants of a batch move in one statement (each statement reads the table's
-- conditions and generated columns anew, which cost more than the row), ended leases are found with the wallets, and the customer
-- who alone may spend a grant stands beside its accounts.

alter table wallet_grant_accounts
  -- Of the grant, which never changes it: `seat ->> 'customer_id'`.
  add column seat_of text;
alter table wallet_grant_accounts no force row level security; -- the owner fills in every tenant's
alter table wallet_grants no force row level security;
alter table wallet_grant_accounts disable trigger wallet_grant_accounts_follow;
update wallet_grant_accounts a set seat_of = g.seat ->> 'customer_id'
from wallet_grants g
where g.platform_id = a.platform_id and g.environment = a.environment and g.id = a.grant_id and g.seat is not null;
alter table wallet_grant_accounts enable trigger wallet_grant_accounts_follow;
alter table wallet_grants force row level security;
alter table wallet_grant_accounts force row level security;

create or replace function post_wallet_entries() returns trigger language plpgsql
-- By the key of each account, also while the table is small: the plan is kept.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off set plan_cache_mode = force_generic_plan
as $$
declare all_moved boolean;
begin
  with moved as (
    select p.platform_id, p.environment, p.grant_id,
      sum(case 'FUNDING' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as funding,
      sum(case 'OPEN' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as open,
      sum(case 'RESERVED' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as reserved,
      sum(case 'SPENT' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as spent,
      sum(case 'EXPIRED' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as expired,
      sum(case 'REVERTED' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as reverted
    from posted p group by p.platform_id, p.environment, p.grant_id
  ), kept as (
    update wallet_grant_accounts a set
      funding = a.funding + moved.funding, open = a.open + moved.open, reserved = a.reserved + moved.reserved,
      spent = a.spent + moved.spent, expired = a.expired + moved.expired, reverted = a.reverted + moved.reverted
    from moved where a.platform_id = moved.platform_id and a.environment = moved.environment and a.grant_id = moved.grant_id
    returning 1
  )
  select (select count(*) from moved) = (select count(*) from kept) into all_moved;
  if not all_moved then
    raise exception 'an entry is of a grant without accounts' using errcode = 'foreign_key_violation';
  end if;
  return null;
end $$;

-- 20261123T0070 says what it gives; a property test compares it with the spending order of shared/billing/wallets.
create or replace function reserve_in_wallets(
  of_platform text, of_environment environment, at timestamptz, ids text[], names text[], units text[], refs text[],
  quantities numeric[], customers text[], leases timestamptz[], actors text[], requests text[], heeds_leases boolean
) returns table (outcome text, wallet_id text, wallet_status text, unit text, open numeric, known_id text)
language plpgsql
-- By the indexes, also while the tables are small: the plans are kept.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  asked constant int := cardinality(ids);
  -- The wallets, locked; `places` says which of them each reservation is of.
  held text[]; held_statuses text[]; held_units text[]; have_ended boolean; places int[]; by_reference boolean;
  outcomes text[]; wallet_ids text[]; statuses text[]; found_units text[];
  known_ids text[] := array_fill(null::text, array[asked]);
  opens numeric[] := array_fill(null::numeric, array[asked]);
  parts jsonb[] := array_fill(null::jsonb, array[asked]);
  -- What is left of each grant that can be spent, by wallet and in the order in which it is spent. `firsts`: where those of a wallet
  -- begin.
  grant_ids text[]; grant_wallets int[]; grant_seats text[]; lefts numeric[];
  grants int; firsts int[];
  -- What is taken: of which grant (its place above), and for which reservation.
  taken int; before int; taken_of int[] := '{}'; taken_for int[] := '{}'; taken_quantities numeric[] := '{}';
  of_wallet int; g int; missing numeric; part numeric; part_list jsonb;
begin
  -- Names are looked up as references only when one of them is no id, so that all wallets are locked in one order.
  by_reference := false;
  for i in 1 .. asked loop
    by_reference := by_reference or not starts_with(names[i], 'wall_');
  end loop;
  loop
    if by_reference then
      select array_agg(coalesce(w.id, n.name) order by n.place) into names
      from unnest(names) with ordinality as n (name, place)
      left join wallets w on w.platform_id = of_platform and w.environment = of_environment and w.reference = n.name;
    end if;

    select array_agg(l.id), array_agg(l.status), array_agg(l.unit), bool_or(l.has_ended)
    into held, held_statuses, held_units, have_ended
    from (
      select w.id, w.status, case when t.credit ->> 'grant_type' = 'CREDITS' then 'CREDITS ' || t.credit_type_id
          else 'AMOUNT ' || coalesce(coalesce(t.credit -> 'amount_grant', t.balance) ->> 'default_currency', '') end as unit,
        heeds_leases and exists (
          select from wallet_reservations r where r.platform_id = of_platform and r.environment = of_environment
            and r.wallet_id = w.id and r.status = 'ACTIVE' and r.lease_until <= at
        ) as has_ended
      from wallets w
      join wallet_types t on t.platform_id = of_platform and t.environment = of_environment and t.id = w.wallet_type_id
      where w.platform_id = of_platform and w.environment = of_environment and w.id = any(names)
      order by w.id for no key update of w
    ) as l;
    places := array_fill(null::int, array[asked]);
    for i in 1 .. asked loop
      places[i] := array_position(held, names[i]);
    end loop;
    exit when by_reference or array_position(places, null) is null;
    -- A reference may look like an id.
    by_reference := true;
  end loop;

  if have_ended then
    return query select 'LEASES', null::text, null::text, null::text, null::numeric, null::text;
    return;
  end if;

  -- As if every reference were new: the insert finds out without a question. What is refused, or repeats a reference, is decided
  -- again with what the known references made.
  for attempt in 1 .. 2 loop begin
    taken := 0;
    outcomes := array_fill(null::text, array[asked]);
    wallet_ids := outcomes; statuses := outcomes; found_units := outcomes;

    select coalesce(array_agg(g.grant_id), '{}'), coalesce(array_agg(g.wallet_place), '{}'), array_agg(g.seat_of), array_agg(g.open)
    into grant_ids, grant_wallets, grant_seats, lefts
    from (
      select a.grant_id, array_position(held, a.wallet_id) as wallet_place, a.seat_of, a.open
      from wallet_grant_accounts a
      where a.platform_id = of_platform and a.environment = of_environment and a.wallet_id = any(held) and a.is_live and a.open > 0
        and a.start_at <= at and (a.expire_at is null or a.expire_at > at)
      order by wallet_place, a.expire_at nulls last, a.type = 'PROMOTION' desc, a.start_at, a.grant_id collate "C"
    ) as g;
    grants := cardinality(grant_ids);
    firsts := array_fill(grants + 1, array[coalesce(cardinality(held), 0)]);
    for g in reverse grants .. 1 loop
      firsts[grant_wallets[g]] := g;
    end loop;

    for i in 1 .. asked loop
      of_wallet := places[i];
      if of_wallet is null then
        outcomes[i] := 'NO_WALLET';
        continue;
      end if;
      wallet_ids[i] := held[of_wallet];
      statuses[i] := held_statuses[of_wallet];
      found_units[i] := held_units[of_wallet];
      if held_units[of_wallet] <> units[i] then
        outcomes[i] := 'UNIT';
      elsif known_ids[i] is not null then
        outcomes[i] := 'KNOWN';
      elsif held_statuses[of_wallet] not in ('ACTIVE', 'DEPRECATED') then
        outcomes[i] := 'STATUS';
      else
        before := taken;
        missing := quantities[i];
        part_list := '[]';
        for g in firsts[of_wallet] .. grants loop
          exit when missing = 0 or grant_wallets[g] <> of_wallet;
          continue when lefts[g] = 0 or (grant_seats[g] is not null and grant_seats[g] is distinct from customers[i]);
          part := least(lefts[g], missing);
          missing := missing - part;
          taken := taken + 1;
          taken_of[taken] := g;
          taken_for[taken] := i;
          taken_quantities[taken] := part;
          part_list := part_list || jsonb_build_object('grant_id', grant_ids[g], 'quantity', trim_scale(part)::text);
        end loop;
        if missing > 0 then
          outcomes[i] := 'SHORT';
          opens[i] := trim_scale(quantities[i] - missing);
          taken := before;
        else
          outcomes[i] := 'RESERVED';
          parts[i] := part_list;
          for t in before + 1 .. taken loop
            g := taken_of[t];
            lefts[g] := lefts[g] - taken_quantities[t];
          end loop;
        end if;
      end if;
    end loop;

    if attempt = 1 and outcomes && array['SHORT', 'STATUS'] then
      raise unique_violation;
    end if;
    if taken > 0 then
      insert into wallet_reservations (platform_id, environment, id, created_at, updated_at, wallet_id, reference, quantity, parts, status,
        lease_until)
      select of_platform, of_environment, n.id, at, at, n.wallet_id, n.reference, n.quantity, n.parts, 'ACTIVE', n.lease
      from unnest(ids, wallet_ids, refs, quantities, parts, leases, outcomes)
        as n (id, wallet_id, reference, quantity, parts, lease, outcome)
      where n.outcome = 'RESERVED';

      insert into wallet_entries (platform_id, environment, id, created_at, wallet_id, grant_id, type, debit_account, credit_account,
        quantity, effective_at, cause_type, cause_id, actor_id, request_id)
      select of_platform, of_environment, 'went_' || substr(ids[n.i], 6, 18) || lpad((n.place % 10000)::text, 4, '0'), at, wallet_ids[n.i],
        grant_ids[n.of_grant], 'RESERVED', 'OPEN', 'RESERVED', n.quantity, at, 'RESERVATION', ids[n.i], actors[n.i], requests[n.i]
      from unnest(taken_of[1:taken], taken_for[1:taken], taken_quantities[1:taken]) with ordinality as n (of_grant, i, quantity, place);
    end if;
    exit;
  exception when unique_violation then
    if attempt = 2 then
      raise;
    end if;
    -- Planned now: a plan that was made while the table was empty reads all of it for as long as it is kept.
    execute 'select array_agg((select r.id from wallet_reservations r where r.platform_id = $1 and r.environment = $2
        and r.wallet_id = n.name and r.reference = n.reference) order by n.place)
      from unnest($3, $4) with ordinality as n (name, reference, place)'
    into known_ids using of_platform, of_environment, names, refs;
  end; end loop;

  return query select * from unnest(outcomes, wallet_ids, statuses, found_units, opens, known_ids);
end $$;
