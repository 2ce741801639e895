-- Reservations of a batch in one statement, and less to write for each.

-- Whether anything is left, as columns that change with the last of it alone: an index whose condition names a sum itself has
-- every change of that sum written into it.
drop index wallet_grant_accounts_live;
drop index wallet_grant_accounts_wallet;
drop index wallet_grant_accounts_expiring;
alter table wallet_grant_accounts
  add column is_open boolean not null generated always as (open > 0) stored,
  add column is_live boolean not null generated always as (open > 0 or reserved > 0) stored;
create index wallet_grant_accounts_live on wallet_grant_accounts (platform_id, environment, wallet_id) where is_live;
create index wallet_grant_accounts_wallet on wallet_grant_accounts (platform_id, environment, wallet_id);
create index wallet_grant_accounts_expiring on wallet_grant_accounts (expire_at) where is_open and expire_at is not null;

-- No question reads these.
drop index wallet_reservations_created;
drop index wallet_entries_grant;
-- Entries of reservations are found by their wallet, those of invoices by their cause.
drop index wallet_entries_cause;
create index wallet_entries_cause on wallet_entries (platform_id, environment, cause_id, grant_id)
  where cause_id is not null and cause_type <> 'RESERVATION';

-- The row of a reservation or an entry is checked once and not twice: a reservation is of a wallet that its transaction has locked and
-- of grants, which keep the wallet; an entry without the accounts of a grant is refused below.
alter table wallet_reservations drop constraint wallet_reservations_platform_id_environment_wallet_id_fkey;
alter table wallet_entries drop constraint wallet_entries_platform_id_environment_grant_id_fkey;

create or replace function post_wallet_entries() returns trigger language plpgsql as $$
declare moved record;
begin
  for moved in
    select p.platform_id, p.environment, p.grant_id,
      sum(case 'FUNDING' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as funding,
      sum(case 'OPEN' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as open,
      sum(case 'RESERVED' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as reserved,
      sum(case 'SPENT' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as spent,
      sum(case 'EXPIRED' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as expired,
      sum(case 'REVERTED' when p.credit_account then p.quantity when p.debit_account then -p.quantity else 0 end) as reverted
    from posted p group by p.platform_id, p.environment, p.grant_id
  loop
    -- Not one statement for all: this one keeps its plan, which finds one row by its key.
    update wallet_grant_accounts a set
      funding = a.funding + moved.funding, open = a.open + moved.open, reserved = a.reserved + moved.reserved,
      spent = a.spent + moved.spent, expired = a.expired + moved.expired, reverted = a.reverted + moved.reverted
    where a.platform_id = moved.platform_id and a.environment = moved.environment and a.grant_id = moved.grant_id;
    if not found then
      raise exception 'the grant % has no accounts', moved.grant_id using errcode = 'foreign_key_violation';
    end if;
  end loop;
  return null;
end $$;

/*
 * Decides reservations in their order, each against what the ones before it have left, and writes those that are granted with
 * their entries. All arrays have one element for each reservation; a wallet is named by id or reference, and `units` is what the
 * caller takes it to hold: `CREDITS` or `AMOUNT`, and the id of the credit type or the currency.
 *
 * A row for each, in the same order. `outcome`: RESERVED; KNOWN, with the id of the reservation that the reference made before;
 * SHORT, with what is `open` for this use; STATUS, when the wallet is not spent; UNIT, when it holds something else than `units`
 * says; NO_WALLET. With `heeds_leases`, one row LEASES, and nothing done, when leases of these wallets have ended: they are released
 * first. A reference comes once in a batch.
 *
 * The spending order is that of shared/billing/wallets/spending-order.ts, and a property test compares the two.
 */
create function reserve_in_wallets(
  of_platform text, of_environment environment, at timestamptz, ids text[], names text[], units text[], refs text[],
  quantities numeric[], customers text[], leases timestamptz[], actors text[], requests text[], heeds_leases boolean
) returns table (outcome text, wallet_id text, wallet_status text, unit text, open numeric, known_id text)
language plpgsql
-- By the indexes, also while the tables are small: the plans are kept.
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  -- The wallets, locked.
  held text[]; held_statuses text[]; held_units text[];
  outcomes text[]; wallet_ids text[]; statuses text[]; found_units text[]; known_ids text[] := array_fill(null::text, array[cardinality(ids)]);
  opens numeric[] := array_fill(null::numeric, array[cardinality(ids)]);
  parts jsonb[] := array_fill(null::jsonb, array[cardinality(ids)]);
  -- What is left of each grant that can be spent, by wallet and in the order in which it is spent.
  grant_ids text[]; grant_wallets text[]; grant_seats text[]; lefts numeric[];
  firsts int[]; grants int;
  -- What is taken: of which grant (its place above), and for which reservation.
  taken int := 0; before int; taken_of int[] := '{}'; taken_for int[] := '{}'; taken_quantities numeric[] := '{}';
  missing numeric; part numeric; part_list jsonb;
begin
  select array_agg(coalesce(w.id, n.name) order by n.place) into names
  from unnest(names) with ordinality as n (name, place)
  left join wallets w on w.platform_id = of_platform and w.environment = of_environment and w.reference = n.name;

  select array_agg(l.id), array_agg(l.status), array_agg(l.unit) into held, held_statuses, held_units from (
    select w.id, w.status, case when t.credit ->> 'grant_type' = 'CREDITS' then 'CREDITS ' || t.credit_type_id
      else 'AMOUNT ' || coalesce(coalesce(t.credit -> 'amount_grant', t.balance) ->> 'default_currency', '') end as unit
    from wallets w
    join wallet_types t on t.platform_id = of_platform and t.environment = of_environment and t.id = w.wallet_type_id
    where w.platform_id = of_platform and w.environment = of_environment and w.id = any(names)
    order by w.id for no key update of w
  ) as l;

  if heeds_leases and exists (
    select from unnest(held) as h (id) join wallet_reservations r on r.platform_id = of_platform and r.environment = of_environment
      and r.wallet_id = h.id and r.status = 'ACTIVE' and r.lease_until <= at
  ) then
    return query select 'LEASES', null::text, null::text, null::text, null::numeric, null::text;
    return;
  end if;

  -- As if every reference were new: the insert finds out without a question. What is refused, or repeats a reference, is decided
  -- again with what the known references made.
  for attempt in 1 .. 2 loop begin
    taken := 0;
    select array_agg(d.outcome order by d.place), array_agg(held[d.at] order by d.place), array_agg(held_statuses[d.at] order by d.place),
      array_agg(held_units[d.at] order by d.place)
    into outcomes, wallet_ids, statuses, found_units
    from (
      select n.place, n.at,
        case
          when n.at is null then 'NO_WALLET'
          when held_units[n.at] <> n.unit then 'UNIT'
          when n.known_id is not null then 'KNOWN'
          when held_statuses[n.at] not in ('ACTIVE', 'DEPRECATED') then 'STATUS'
        end as outcome
      from (
        select u.place, u.unit, u.known_id, array_position(held, u.name) as at
        from unnest(names, units, known_ids) with ordinality as u (name, unit, known_id, place)
      ) as n
    ) as d;

    select coalesce(array_agg(g.grant_id), '{}'), array_agg(g.wallet_id), array_agg(g.seat_of), array_agg(g.open)
    into grant_ids, grant_wallets, grant_seats, lefts
    from (
      select a.grant_id, a.wallet_id, g.seat ->> 'customer_id' as seat_of, a.open
      from wallet_grant_accounts a
      join wallet_grants g on g.platform_id = of_platform and g.environment = of_environment and g.id = a.grant_id
      where a.platform_id = of_platform and a.environment = of_environment and a.wallet_id = any(held) and a.is_live and a.open > 0
        and a.start_at <= at and (a.expire_at is null or a.expire_at > at)
      order by a.wallet_id collate "C", a.expire_at nulls last, a.type = 'PROMOTION' desc, a.start_at, a.grant_id collate "C"
    ) as g;
    grants := cardinality(grant_ids);
    -- Where the grants of each reservation's wallet begin.
    select array_agg(coalesce(array_position(grant_wallets, n.id), grants + 1) order by n.place) into firsts
    from unnest(wallet_ids) with ordinality as n (id, place);

    for i in 1 .. cardinality(ids) loop
      continue when outcomes[i] is not null;
      before := taken;
      missing := quantities[i];
      part_list := '[]';
      for g in firsts[i] .. grants loop
        exit when missing = 0 or grant_wallets[g] <> wallet_ids[i];
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
          lefts[taken_of[t]] := lefts[taken_of[t]] - taken_quantities[t];
        end loop;
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

      -- The id of an entry is that of its reservation, with the number of the part in the place of the last four letters.
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
