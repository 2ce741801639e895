-- Whether the password is long enough to protect an account by itself. False where that is not known: it was chosen before this
-- column, perhaps beside a second factor, which allows a shorter one.
alter table users add column password_suffices_alone boolean not null default false;
