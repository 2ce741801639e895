-- Deleting a billing entity looks for its answers.
create index tax_answers_of_entity on tax_answers (platform_id, environment, billing_entity_id);
