-- The tax ids of a billing entity by type, and what the check of its one tax id said; those of a customer are in its organization.
alter table billing_entities add column tax_ids jsonb;
alter table billing_entities add column tax_id_validation_result jsonb;
