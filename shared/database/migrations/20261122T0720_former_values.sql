-- An update keeps the former values of what it changed, and not the whole resource once more (shared/database/former-values.ts).
-- Rows from before have it in `previous_data`, and stay readable.
alter table outbox add column former_values jsonb;
