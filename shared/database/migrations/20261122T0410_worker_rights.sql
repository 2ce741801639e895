-- The worker reads no platforms; its rights are those its jobs declare (api/jobs/rights.it.test.ts compares).
drop policy millrace_worker_select on platforms;
revoke select on platforms from millrace_worker;
