-- What a change leaves in the outbox is kept once, and read by those alone who need it.
alter table outbox
  -- Several notices of one resource, made together, keep it in the last of them: the others name that one, and where theirs was another
  -- say what it had then, as former_values do.
  alter column data drop not null,
  add column data_in text,
  add column data_changes jsonb,
  add constraint outbox_data_somewhere check ((data is null) = (data_in is not null)) not valid,
  -- The fields that an update changed, for the audit trail; null on rows written before.
  add column changed_fields text[];
