// Mails that wait to be sent. A row is written in the same transaction as what it tells of, and sent by whichever process of
// the identity host takes it; one that is taken and not heard of again is taken once more later.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../shared/database/database.ts'
import { newId } from '../../shared/ids.ts'
import type { Environment } from '../../shared/tenant.ts'

export type MailKind =
  | 'INVITATION'
  | 'PASSWORD_RESET'
  | 'PASSWORD_CHANGED'
  | 'TOKEN_REUSED'
  | 'FACTOR_CHANGED'
  // Queued by the api for administrators (api/modules/webhooks/delivery/mail-administrators.ts).
  | 'WEBHOOK_FAILING'
  | 'WEBHOOK_DISABLED'

/** To a user, about something that happened to their account. */
export const queueNotice = async (
  tx: SystemTransaction,
  notice: {
    readonly kind: 'PASSWORD_CHANGED' | 'TOKEN_REUSED' | 'FACTOR_CHANGED'
    readonly userId: string
    readonly data?: object
  },
): Promise<void> => {
  await tx.execute(sql`
    insert into identity_mails (id, kind, user_id, data)
    values (${newId('mail')}, ${notice.kind}, ${notice.userId}, ${JSON.stringify(notice.data ?? {})}::jsonb)`)
}

/** At most so many in a quarter of an hour for one e-mail: no one fills another person's mailbox. */
const RESETS_MAX = 3
/** Half of an advisory lock; the other half is the e-mail. */
const RESET_LOCK = 7_243_121

/** Asks for a reset mail to an e-mail as it was typed. Whether anybody has it is looked up when it is sent, so that asking tells nothing. */
export async function queuePasswordReset(tx: SystemTransaction, email: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${RESET_LOCK}, hashtext(${email}))`)
  await tx.execute(sql`
    insert into identity_mails (id, kind, email) select ${newId('mail')}, 'PASSWORD_RESET', ${email}
    where (select count(*) from identity_mails m where m.kind = 'PASSWORD_RESET' and m.email = ${email}
      and m.created_at > identity_now() - interval '15 minutes') < ${RESETS_MAX}`)
}

/** A pending invitation gets one mail. Older ones had theirs, or were made where nobody sent any. */
export async function queueInvitations(tx: SystemTransaction): Promise<void> {
  const { rows } = await tx.execute<{ platform_id: string; environment: Environment; id: string; user_id: string }>(sql`
    select i.platform_id, i.environment, i.id, i.user_id from user_invitations i
    where i.revoked_at is null and i.accepted_at is null and i.created_at > identity_now() - interval '1 day'
      and not exists (select from identity_mails m where m.about = ${aboutInvitation()})
    limit 100`)
  for (const row of rows) {
    const data = { platform_id: row.platform_id, environment: row.environment, invitation_id: row.id }
    await tx.execute(sql`
      insert into identity_mails (id, kind, user_id, data, about)
      values (${newId('mail')}, 'INVITATION', ${row.user_id}, ${JSON.stringify(data)}::jsonb,
        ${`invitation:${row.platform_id}:${row.environment}:${row.id}`})
      on conflict (about) do nothing`)
  }
}
const aboutInvitation = () => sql`'invitation:' || i.platform_id || ':' || i.environment || ':' || i.id`

export type QueuedMail = {
  readonly id: string
  readonly kind: MailKind
  readonly userId: string | null
  readonly email: string | null
  readonly data: Readonly<Record<string, unknown>>
  readonly tries: number
  /** Whether this is the last time it is tried. */
  readonly last: boolean
}

/** Longer than handing over a letter can take. */
const TAKEN_FOR = '5 minutes'
/** How long a mail is tried: one that its reader waits for is of no use hours later. */
const patience = sql`case kind when 'PASSWORD_RESET' then interval '1 hour' else interval '1 day' end`

type Row = {
  id: string
  kind: MailKind
  user_id: string | null
  email: string | null
  data: Record<string, unknown>
  tries: number
  last: boolean
}

/** Takes the mail that is due longest, or null. Nobody else gets it while it is taken. */
export async function claimMail(tx: SystemTransaction): Promise<QueuedMail | null> {
  const { rows } = await tx.execute<Row>(sql`
    update identity_mails set tries = tries + 1, next_try_at = identity_now() + ${TAKEN_FOR}::interval
    where id = (select id from identity_mails where done_at is null and next_try_at <= identity_now()
      order by next_try_at, id limit 1 for update skip locked)
    returning id, kind, user_id, email, data, tries, created_at + ${patience} < identity_now() as last`)
  const [row] = rows
  return row ? { ...row, userId: row.user_id } : null
}

/** How a mail ended. */
export const finishMail = async (
  tx: SystemTransaction,
  id: string,
  outcome: 'SENT' | 'NOBODY' | 'OBSOLETE' | 'GIVEN_UP',
): Promise<void> => {
  await tx.execute(
    sql`update identity_mails set done_at = identity_now(), outcome = ${outcome} where id = ${id} and done_at is null`,
  )
}

/** Seconds until a mail is tried again: 10, 20, 40, … to ten minutes. */
export const secondsToRetry = (tries: number): number => Math.min(600, 10 * 2 ** Math.min(tries - 1, 10))

/** Puts a mail back that could not be handed over. */
export const requeueMail = async (tx: SystemTransaction, mail: QueuedMail): Promise<void> => {
  await tx.execute(sql`
    update identity_mails set next_try_at = identity_now() + make_interval(secs => ${secondsToRetry(mail.tries)})
    where id = ${mail.id} and done_at is null`)
}

/** Forgets mails that are long done, and soonest what was typed and is nobody's. */
export const removeOldMails = async (tx: SystemTransaction): Promise<void> => {
  await tx.execute(sql`
    delete from identity_mails where done_at < identity_now() -
      case outcome when 'NOBODY' then interval '1 hour' else interval '30 days' end`)
}
