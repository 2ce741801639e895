-- The second factor of a user can be taken away by the operator of the installation too: for a member of several platforms no key
-- administers everything that the account opens. Both ways do the same, so it is one function.

-- Removes every factor of an ACTIVE user, ends their sessions and queues the mail that says so, with `change` for its words.
-- Answers DONE, or why nothing was done: NOT_ACTIVE, NO_FACTOR, SHORT_PASSWORD. Whether the caller may is the caller's to know.
create function remove_second_factor(of_user text, change text, mail_id text) returns text
  language plpgsql set search_path = pg_catalog, public as $$
declare
  suffices boolean;
begin
  -- Before the user: a second step that is under way holds its row, and then wants the user for its session.
  perform from public.pending_sign_ins where user_id = of_user order by token_sha256 for update;
  -- Waits for factors and sessions that are being added, and holds up others: their foreign keys share this lock.
  select password_suffices_alone into suffices from public.users where id = of_user and status = 'ACTIVE' for update;
  if not found then
    return 'NOT_ACTIVE';
  end if;
  if not exists (select from public.user_authenticators where user_id = of_user and confirmed_at is not null)
      and not exists (select from public.user_passkeys where user_id = of_user) then
    return 'NO_FACTOR';
  end if;
  if not suffices then
    return 'SHORT_PASSWORD';
  end if;
  delete from public.user_authenticators where user_id = of_user;
  delete from public.user_passkeys where user_id = of_user;
  delete from public.user_recovery_codes where user_id = of_user;
  delete from public.proof_tries where user_id = of_user;
  update public.sessions set ended_at = public.identity_now() where user_id = of_user and ended_at is null;
  delete from public.pending_sign_ins where user_id = of_user;
  insert into public.identity_mails (id, kind, user_id, data)
    values (mail_id, 'FACTOR_CHANGED', of_user, pg_catalog.jsonb_build_object('change', change));
  return 'DONE';
end $$;
revoke execute on function remove_second_factor(text, text, text) from public;
-- It may already do each of these things.
grant execute on function remove_second_factor(text, text, text) to millrace_identity;

-- As before, with the common part taken out: the tenant is that of the transaction, and everything the account opens must be its.
create or replace function reset_second_factor(of_user text, whole_platform boolean, mail_id text) returns text
  language plpgsql security definer set search_path = pg_catalog, public as $$
declare
  here_platform text := public.current_platform();
  here_environment public.environment := public.current_environment();
begin
  -- In the order of remove_second_factor, which holds them to the end as well.
  perform from public.pending_sign_ins where user_id = of_user order by token_sha256 for update;
  perform from public.users where id = of_user and status = 'ACTIVE' for update;
  if not found or not exists (select from public.user_memberships m where m.user_id = of_user and m.status = 'ACTIVE'
      and m.platform_id = here_platform and m.environment = here_environment) then
    return 'NO_MEMBER';
  end if;
  if exists (select from public.user_memberships m where m.user_id = of_user and m.status in ('ACTIVE', 'INACTIVE')
      and (m.platform_id, m.environment) <> (here_platform, here_environment)
      and not (whole_platform and m.platform_id = here_platform and here_environment = 'LIVE')) then
    return 'ELSEWHERE';
  end if;
  return public.remove_second_factor(of_user, 'SECOND_FACTOR_RESET', mail_id);
end $$;
