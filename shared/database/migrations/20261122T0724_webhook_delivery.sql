-- What the worker does across tenants to deliver webhooks. Whatever shows in a webhook itself (that it was disabled) is saved by the
-- role of the api, in its tenant.
call allow_system('webhooks', 'millrace_worker', array['select']);
call allow_system('webhook_queues', 'millrace_worker', array['select', 'update']);
call allow_system('webhook_attempts', 'millrace_worker', array['select', 'insert', 'delete']);

-- Mails of the identity host to administrators of the tenant of this transaction. The api may queue them and sees none.
alter table identity_mails drop constraint identity_mails_kind_check,
  add constraint identity_mails_kind_check check (kind in ('INVITATION', 'PASSWORD_RESET', 'PASSWORD_CHANGED', 'TOKEN_REUSED',
    'FACTOR_CHANGED', 'WEBHOOK_FAILING', 'WEBHOOK_DISABLED'));
create function queue_webhook_mail(of_user text, mail_id text, of_kind text, of_about text, of_data jsonb) returns void
  language plpgsql security definer set search_path = pg_catalog, public as $$
begin
  if of_kind not in ('WEBHOOK_FAILING', 'WEBHOOK_DISABLED') then
    raise exception 'no mail of kind % is queued here', of_kind;
  end if;
  insert into public.identity_mails (id, kind, user_id, about, data)
    select mail_id, of_kind, of_user, of_about, of_data
    where exists (select from public.user_memberships m where m.user_id = of_user and m.status = 'ACTIVE'
      and m.platform_id = public.current_platform() and m.environment = public.current_environment())
    on conflict (about) do nothing;
end $$;
revoke execute on function queue_webhook_mail(text, text, text, text, jsonb) from public;
grant execute on function queue_webhook_mail(text, text, text, text, jsonb) to millrace_app;
