-- To analyze a column of JSON or of lists costs several times what a text costs, and PostgreSQL analyzes a young table every few seconds
-- while a billing run fills it. No condition names these columns, so the planner has no use for what it finds in them.
alter table outbox
  alter column previous_data set statistics 0,
  alter column former_values set statistics 0,
  alter column data_changes set statistics 0,
  alter column metadata set statistics 0,
  alter column changed_fields set statistics 0;
alter table audit_records
  alter column changed_fields set statistics 0,
  alter column previous_hash set statistics 0,
  alter column hash set statistics 0;
alter table pricing_plan_subscriptions alter column usage_counted_positions set statistics 0;

-- A run claims a subscription and soon writes when it is due next. With room for that on the page, a claim changes none of the indexes.
alter table pricing_plan_subscriptions set (fillfactor = 50);
