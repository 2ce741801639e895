// The sending of invoices as jobs: one for each invoice with something to send, tried again for about sixteen hours.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, inTenant } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { type Id, idOf } from '../../../../shared/ids.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { defineJob, queueJobs } from '../../../jobs/define-job.ts'
import { type TenantPayload, tenantOf } from '../../../jobs/tenant-jobs.ts'
import { onHeads } from '../../../workers/reaction.ts'
import { sendAutomatically } from './schedule-email.ts'
import { CLAIM_MS, type EmailDeps, sendEmails } from './send-emails.ts'

type OneInvoice = TenantPayload & { readonly id: Id<'invo'> }
type FinalInvoices = TenantPayload & { readonly ids: readonly Id<'invo'>[] }

export type EmailJobDeps = EmailDeps & { /** In the role millrace_worker. */ readonly system: Database }

/** The pauses of the queue grow to six hours, so the last try is about sixteen hours after the first. */
const SEND = { name: 'send-invoice-emails', attemptsMax: 12 }
const SEND_FINAL = { name: 'send-final-invoices' }
const LOST_MAX = 1_000

const keyed = (payload: OneInvoice) => ({ key: payload.id, payload })

export const emailReactions = [
  onHeads(['INVOICE.SEND_BY_EMAIL'], (tx, rows) =>
    queueJobs(
      tx,
      SEND,
      rows.map(({ platform_id, environment, object_id }) =>
        keyed({ platform_id, environment, id: idOf('invo', object_id) }),
      ),
    ),
  ),
  // Whether a platform sends them by itself, only the tenant may read: one job for all of its invoices in the batch.
  onHeads(['INVOICE.STATUS_TO_FINAL'], async (tx, rows) => {
    const tenants = groupBy(rows, ({ platform_id, environment }) => `${platform_id}:${environment}`)
    await queueJobs(
      tx,
      SEND_FINAL,
      [...tenants.values()].flatMap(own => {
        const [first] = own
        if (!first) return []
        const { platform_id, environment, id } = first
        return [
          { key: id, payload: { platform_id, environment, ids: own.map(({ object_id }) => idOf('invo', object_id)) } },
        ]
      }),
    )
  }),
]

export const emailJobs = [
  defineJob<EmailJobDeps>({
    name: 'find-lost-invoice-emails',
    class: 'short',
    every: '*/5 * * * *',
    rights: { invoice_emails: ['select'] },
    run: async ({ system }) => {
      const now = system.clock.now()
      const silentSince = formatInstant(instantOf(now - CLAIM_MS))
      await asSystem(system, 'find-lost-invoice-emails', async tx => {
        const { rows } = await tx.execute<OneInvoice>(sql`
          select distinct e.platform_id, e.environment, e.invoice_id as id from invoice_emails e
          where e.status = 'SCHEDULED' and e.updated_at < ${silentSince}::timestamptz
            and (e.claimed_until is null or e.claimed_until <= ${formatInstant(now)}::timestamptz)
            and not exists (select from graphile_worker.jobs j
              where j.key = ${`${SEND.name}:`} || e.invoice_id and j.locked_at is null and j.attempts < j.max_attempts)
          limit ${LOST_MAX}`)
        await queueJobs(tx, SEND, rows.map(keyed))
      })
    },
  }),
  defineJob<EmailJobDeps, FinalInvoices>({
    ...SEND_FINAL,
    class: 'short',
    rights: {},
    run: async ({ database }, payload) => {
      const actor = { id: null, requestId: null }
      await inTenant(database, tenantOf(payload), actor, uow => sendAutomatically(uow, payload.ids))
    },
  }),
  defineJob<EmailJobDeps, OneInvoice>({
    ...SEND,
    class: 'external',
    rights: {},
    run: (deps, payload, { attempt, attemptsMax }) =>
      sendEmails(deps, { tenant: tenantOf(payload), invoiceId: payload.id, last: attempt >= attemptsMax }),
  }),
] as const
