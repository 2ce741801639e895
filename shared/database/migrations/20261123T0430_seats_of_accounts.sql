-- The version before does not write `seat_of`, and inserts accounts during a rolling upgrade and after a rollback. Without it, the
-- credits of a seat could be spent by every customer of the wallet.

create or replace function refuse_first_balance() returns trigger language plpgsql as $$
begin
  if (new.funding, new.open, new.reserved, new.spent, new.expired, new.reverted) <> (0, 0, 0, 0, 0, 0) then
    raise exception 'the accounts of a grant begin at zero; post an entry' using errcode = 'restrict_violation';
  end if;
  new.seat_of := coalesce(new.seat_of, (
    select g.seat ->> 'customer_id' from wallet_grants g
    where g.platform_id = new.platform_id and g.environment = new.environment and g.id = new.grant_id));
  return new;
end $$;

-- Those inserted since 20261123T0220.
alter table wallet_grant_accounts disable trigger wallet_grant_accounts_follow;
update wallet_grant_accounts a set seat_of = g.seat ->> 'customer_id'
from wallet_grants g
where g.platform_id = a.platform_id and g.environment = a.environment and g.id = a.grant_id and g.seat is not null and a.seat_of is null;
alter table wallet_grant_accounts enable trigger wallet_grant_accounts_follow;
