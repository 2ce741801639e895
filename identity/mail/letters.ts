// A queued mail as the letter that is sent now, with its link made now; or why there is none to send.
import { sql } from 'drizzle-orm'
import { INVITATION_DAYS } from '../../shared/access/invitation-life.ts'
import type { SystemTransaction } from '../../shared/database/database.ts'
import type { Environment } from '../../shared/tenant.ts'
import { createLink, LINK_MINUTES } from './one-time-links.ts'
import type { QueuedMail } from './outbox.ts'
import {
  factorChangedWords,
  invitationToKnownWords,
  invitationWords,
  passwordChangedWords,
  passwordResetWords,
  tokenReusedWords,
  type Words,
  webhookWords,
} from './words.ts'

/** `NOBODY`: no such user. `OBSOLETE`: what it was about is over. */
type NoLetter = 'NOBODY' | 'OBSOLETE'
type Person = { readonly id: string; readonly username: string; readonly status: string }

/** What to send to whom, or why nothing. */
export async function letterFor(
  tx: SystemTransaction,
  mail: QueuedMail,
  identityUrl: string,
): Promise<(Words & { readonly to: string }) | NoLetter> {
  const { rows } = await tx.execute<Person>(sql`
    select id, username, status from users where ${mail.userId === null ? sql`username = ${mail.email}` : sql`id = ${mail.userId}`}`)
  const [person] = rows
  if (!person) return 'NOBODY'
  const words = await wordsFor(tx, mail, person, identityUrl)
  return typeof words === 'string' ? words : { ...words, to: person.username }
}

async function wordsFor(
  tx: SystemTransaction,
  mail: QueuedMail,
  person: Person,
  identityUrl: string,
): Promise<Words | NoLetter> {
  switch (mail.kind) {
    case 'INVITATION':
      return await invitation(
        tx,
        person,
        identityUrl,
        sql`i.platform_id = ${mail.data['platform_id']}
        and i.environment = ${mail.data['environment']} and i.id = ${mail.data['invitation_id']}`,
      )
    case 'PASSWORD_RESET':
      return await passwordReset(tx, person, identityUrl)
    case 'PASSWORD_CHANGED':
      return passwordChangedWords(identityUrl, mail.data['apps_ended'] === true)
    case 'FACTOR_CHANGED':
      return factorChangedWords(String(mail.data['change']), identityUrl)
    case 'TOKEN_REUSED':
      return tokenReusedWords(String(mail.data['client_name']), identityUrl)
    case 'WEBHOOK_FAILING':
    case 'WEBHOOK_DISABLED':
      return person.status === 'ACTIVE' ? webhookWords(mail.kind, webhookOf(mail.data)) : 'NOBODY'
  }
}

const webhookOf = (data: QueuedMail['data']) => ({
  platformName: String(data['platform_name']),
  environment: data['environment'] === 'LIVE' ? ('LIVE' as const) : ('TEST' as const),
  webhookName: String(data['webhook_name']),
  cause: String(data['cause']),
})

async function passwordReset(tx: SystemTransaction, person: Person, identityUrl: string): Promise<Words | NoLetter> {
  // Who was invited and lost the mail, or came too late, gets the invitation again: they have no password to reset.
  if (person.status === 'INVITED') return await invitation(tx, person, identityUrl, sql`true`)
  if (person.status !== 'ACTIVE') return 'NOBODY'
  const link = await createLink(tx, { purpose: 'PASSWORD_RESET', userId: person.id }, identityUrl)
  return passwordResetWords(link, LINK_MINUTES.PASSWORD_RESET)
}

type InvitationRow = {
  platform_id: string
  environment: Environment
  id: string
  platform_name: string
  invited_by: string | null
}

/** The newest invitation of a person among those that `which` says. */
async function invitation(
  tx: SystemTransaction,
  person: Person,
  identityUrl: string,
  which: ReturnType<typeof sql>,
): Promise<Words | NoLetter> {
  const { rows } = await tx.execute<InvitationRow>(sql`
    select i.platform_id, i.environment, i.id, p.name as platform_name, u.username as invited_by
    from user_invitations i join platforms p on p.platform_id = i.platform_id and p.environment = i.environment
    left join users u on u.id = i.invited_by
    where i.user_id = ${person.id} and i.revoked_at is null and i.accepted_at is null and ${which}
    order by i.created_at desc, i.id limit 1`)
  const [row] = rows
  if (!row) return 'OBSOLETE'
  const where = { platformName: row.platform_name, environment: row.environment, invitedBy: row.invited_by }
  if (person.status === 'ACTIVE') return invitationToKnownWords(where, identityUrl)
  if (person.status !== 'INVITED') return 'OBSOLETE'
  const key = { platformId: row.platform_id, environment: row.environment, id: row.id }
  const link = await createLink(tx, { purpose: 'ACTIVATION', userId: person.id, invitation: key }, identityUrl)
  return invitationWords(where, link, INVITATION_DAYS)
}
