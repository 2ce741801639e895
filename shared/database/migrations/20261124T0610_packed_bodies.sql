-- What is long comes packed (shared/packed-json.ts): PostgreSQL would try in vain to make it shorter.
alter table outbox alter column data set storage external;
comment on column outbox.data is 'the resource after the change: an object; where its JSON is long, one text, which is Base64 of its Brotli form';
