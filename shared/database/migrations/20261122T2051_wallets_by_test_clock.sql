-- The worker's search for grants that have expired leaves customers of test clocks out, and its search for wallets to top up goes by
-- the time of theirs.
create policy millrace_worker_select on wallets for select to millrace_worker using (true);
grant select (platform_id, environment, id, customer_id) on wallets to millrace_worker;
call allow_system('test_clocks', 'millrace_worker', array['select']);
