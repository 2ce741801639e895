-- What a platform sets for the calls of its credentials, in TEST and LIVE apart; an empty object leaves the installation's defaults.
alter table platforms add column api_settings jsonb not null default '{}';
