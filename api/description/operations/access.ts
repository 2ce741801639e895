// What the operations of users, teams, keys and the audit trail do beyond their summary.

export const ACCESS_OPERATIONS: Readonly<Record<string, string>> = {
  roles_list: 'Built-in roles come first. `child_roles` are answered when `include_child_roles` is true.',
  roles_get: 'Built-in roles can be read by their id as well.',
  permissions_list: 'A permission is named `RESOURCE.ACTION`, and is what one or more operations need.',
  api_keys_create:
    'The text of the key is in `api_key` of this answer only. A repeat with the same Idempotency-Key answers without it. Keep it in ' +
    'a secret store.',
  api_keys_update: 'Setting `active` to false revokes the key for good.',
  api_keys_revoke: 'The key stops working within five seconds, and cannot be made to work again.',
  api_keys_search: 'Every field that is sent must match. The answer is the newest key that does.',
  api_keys_decrypt_read: 'Always refused: a key is stored as a hash, and its text cannot be shown again.',
  audit_records_list: 'Records are written within seconds of the change. Filter by who, by what, and by when.',
  audit_records_get: 'Names the fields that changed. Their values are in no audit record.',
  users_list: 'Invited users who have not accepted yet are listed with their status.',
  users_create: 'The person gets an e-mail with a link to choose a password. The same as `users_invite`.',
  users_search_read: 'At most 100 users, ordered by address.',
  users_get: 'Shows the user’s roles and teams on this platform and environment only.',
  users_update: 'A user who is switched off cannot act here from within a second; other platforms are not affected.',
  users_reset_second_factor:
    'Removes the authenticator app, the passkeys and the recovery codes, ends all sessions, and sends the user a mail. Refused for ' +
    'a user who is also a member of another platform.',
  users_invite: 'The roles apply once the invitation is accepted. Inviting the same address again sends a new e-mail.',
  users_revoke_invite: 'The link in the e-mail stops working.',
  users_memberships_read: 'A membership says which roles a user has.',
  users_memberships: 'Roles that the user has already stay. You can give only permissions that you have yourself.',
  users_memberships_update:
    'Replaces the roles of the membership. You can give only permissions that you have yourself.',
  users_memberships_delete:
    'The user loses access to this platform and environment. The last administrator cannot be removed.',
  users_teams_read: 'Memberships of the past and the future are listed with their times.',
  users_teams: 'The roles of the team are the user’s from `start_at` until `end_at`.',
  teams_list: 'Each team is shown with its roles and members.',
  teams_create: 'You can give only permissions that you have yourself.',
  teams_get: 'Shows the roles and the members of the team.',
  teams_update: 'Replaces the roles when they are sent. Members follow at once.',
  teams_delete: 'Members lose the roles of the team at once.',
  teams_memberships: 'Roles that the team has already stay.',
}
