-- A platform has one of the statuses that resources have, as the API description says. An installation sets it; nothing in the service does.
alter table platforms
  add constraint platforms_status check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED'));
