// How far a platform is behind: usage that is accepted but not counted yet, invoices that are due to be computed again,
// and subscriptions that are due to be billed.
import { sql } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { actionRoute, type RouteDeps } from '../../../http/route.ts'
import { Nullable, Shape, Timestamp } from '../../../resource/shapes.ts'
import { notFound } from '../../../resource/store.ts'
import { platformResource } from '../../parties/platforms/platform.ts'
import { billingBacklog } from '../run/jobs/billing-backlog.ts'
import type { UsageReader } from '../usage/usage-reader.ts'

const UpToDateView = Type.Object(
  {
    timestamp: Timestamp,
    event_processing_up_to_date_until: Type.String({
      ...Timestamp,
      description: 'Every event accepted before this instant is counted.',
    }),
    invoices_to_be_reprocessed: Type.Integer({ description: 'OPEN and DRAFT invoices due to be computed again.' }),
    customers_to_be_reprocessed: Type.Integer({ description: 'Customers those invoices are of.' }),
    reprocess: Type.Object({
      in_progress: Type.Boolean(),
      in_error: Type.Boolean({ description: 'Whether the last one that ended did so in ERROR.' }),
      items_scheduled: Type.Integer({ description: 'Invoices of running ones that wait for their turn.' }),
    }),
    billing: Type.Object({
      in_progress: Type.Boolean(),
      in_error: Type.Boolean({
        description: 'Whether a billing run failed or was killed, and was not made up for yet.',
      }),
      subscriptions_due: Type.Integer({
        description: 'Subscriptions that are due to be billed, those in error included.',
      }),
      subscriptions_in_error: Type.Integer({
        description: 'Of those, the ones whose last run failed or was killed. Each is tried again by itself.',
      }),
      oldest_due_at: Nullable(Timestamp),
    }),
  },
  { title: 'PlatformUpToDate' },
)

const RETRY_AFTER_S = 2

/** Registers GET /v1/platforms/{id}/up-to-date. The id of another platform is 404, as for the platform itself. */
export function upToDateRoute(app: FastifyInstance, deps: RouteDeps & { readonly usage: UsageReader }): void {
  actionRoute(app, deps, {
    permission: 'PLATFORM.VIEW',
    tag: 'platforms',
    summary: 'Read how far usage is counted, and what waits to be computed again or to be billed.',
    method: 'GET',
    status: 200,
    url: '/v1/platforms/:id/up-to-date',
    params: Shape({ id: Type.String({ minLength: 1, maxLength: 255 }) }),
    response: UpToDateView,
    handle: async ({ tenant, database }, { params }) => {
      if (params.id !== tenant.platformId) throw notFound(platformResource, params.id)
      const until = await deps.usage.upToDateUntil(database.clock).catch((cause: unknown) => {
        const message = 'How far usage is counted is not known right now; send the request again.'
        throw new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_S, cause })
      })
      return await readTenant(database, tenant, async uow => ({
        timestamp: formatInstant(uow.now),
        event_processing_up_to_date_until: formatInstant(until),
        ...(await reprocessFacts(uow)),
        billing: await billingFacts(uow),
      }))
    },
  })
}

type Facts = { invoices: number; customers: number; in_progress: boolean; in_error: boolean; items: number }

async function reprocessFacts(uow: ReadUow) {
  const { platformId, environment } = uow.tenant
  const here = sql`platform_id = ${platformId} and environment = ${environment}`
  const { rows } = await uow.tx.execute<Facts>(sql`
    select
      (select count(*)::int from invoices where ${here} and to_be_reprocessed_at is not null) as invoices,
      (select count(distinct customer_id)::int from invoices where ${here} and to_be_reprocessed_at is not null) as customers,
      exists (select from reprocesses where ${here} and status = 'IN_PROGRESS') as in_progress,
      coalesce((select status = 'ERROR' from reprocesses where ${here} and finished_at is not null
        order by finished_at desc, id desc limit 1), false) as in_error,
      (select count(*)::int from reprocess_items where ${here} and status = 'SCHEDULED') as items`)
  const [facts] = rows
  if (!facts) throw new Error('a select without a table has one row')
  return {
    invoices_to_be_reprocessed: facts.invoices,
    customers_to_be_reprocessed: facts.customers,
    reprocess: { in_progress: facts.in_progress, in_error: facts.in_error, items_scheduled: facts.items },
  }
}

async function billingFacts(uow: ReadUow) {
  const { platformId, environment } = uow.tenant
  const here = sql`s.platform_id = ${platformId} and s.environment = ${environment}`
  const { due, running, failing, oldestDueAt } = await billingBacklog(uow.tx, uow.now, here)
  return {
    in_progress: running > 0,
    in_error: failing > 0,
    subscriptions_due: due,
    subscriptions_in_error: failing,
    oldest_due_at: oldestDueAt === null ? null : formatInstant(oldestDueAt),
  }
}
