-- An action that keeps failing is tried again after pauses that grow, and given up after a day: its row stays, FAILED, for the
-- operator to look at, and its Idempotency-Key has the refusal as its answer (api/http/actions/README.md).
alter table action_intents
  add column retry_at timestamptz, -- when the worker tries again; null: as soon as the lease ends
  add column failed_at timestamptz,
  add column fault text, -- the code of the last fault
  add check ((failed_at is null) = (fault is null)),
  -- The key belongs to the stored answer then.
  add check (failed_at is null or key is null);
drop index action_intents_left;
create index action_intents_left on action_intents (greatest(leased_until, retry_at)) where failed_at is null;
create index action_intents_failed on action_intents (failed_at) where failed_at is not null;
grant select (created_at, retry_at, failed_at) on action_intents to millrace_worker;
create policy millrace_worker_delete on action_intents for delete to millrace_worker using (true);
grant delete on action_intents to millrace_worker;
