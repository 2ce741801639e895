-- An administrator takes away the second factor of a user who lost it. The api may call this and sees none of it: factors,
-- sessions and mails stay the identity host's.

-- The tenant is that of the transaction. `whole_platform` says whether the caller may do everything in it: from LIVE that
-- reaches the user's membership in TEST of the same platform as well. TEST never reaches LIVE, and nothing reaches another
-- platform. Answers DONE, or why nothing was done. The api writes the notice.
create function reset_second_factor(of_user text, whole_platform boolean, mail_id text) returns text
  language plpgsql security definer set search_path = pg_catalog, public as $$
declare
  here_platform text := public.current_platform();
  here_environment public.environment := public.current_environment();
  suffices boolean;
begin
  -- Before the user: a second step that is under way holds its row, and then wants the user for its session.
  perform from public.pending_sign_ins where user_id = of_user order by token_sha256 for update;
  -- Waits for factors and sessions that are being added, and holds up others: their foreign keys share this lock.
  select password_suffices_alone into suffices from public.users where id = of_user and status = 'ACTIVE' for update;
  if not found or not exists (select from public.user_memberships m where m.user_id = of_user and m.status = 'ACTIVE'
      and m.platform_id = here_platform and m.environment = here_environment) then
    return 'NO_MEMBER';
  end if;
  if exists (select from public.user_memberships m where m.user_id = of_user and m.status in ('ACTIVE', 'INACTIVE')
      and (m.platform_id, m.environment) <> (here_platform, here_environment)
      and not (whole_platform and m.platform_id = here_platform and here_environment = 'LIVE')) then
    return 'ELSEWHERE';
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
    values (mail_id, 'FACTOR_CHANGED', of_user, '{"change": "SECOND_FACTOR_RESET"}');
  return 'DONE';
end $$;
revoke execute on function reset_second_factor(text, boolean, text) from public;
grant execute on function reset_second_factor(text, boolean, text) to millrace_app;
-- The function runs as the owner, whom forced row-level security shows no membership without this. Were it missing, the function
-- would not find the membership here either, and refuse.
create policy second_factor_reset on user_memberships for select to current_user using (true);
