// OPEN and DRAFT invoices follow usage: once a minute the marks of the log tell whose usage was touched, and the
// subscriptions that its events may belong to become due for billing. Nothing is read while no usage arrives.
import { sql } from 'drizzle-orm'
import {
  asSystem,
  type Database,
  inTenant,
  type ReadUow,
  readTenant,
  SERVICE,
  type Uow,
} from '../../../../../shared/database/database.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { defineJob } from '../../../../jobs/define-job.ts'
import { queueTenants, type TenantPayload, tenantOf } from '../../../../jobs/tenant-jobs.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import { customers } from '../../../parties/customers/table.ts'
import { loadAttribution } from '../../../subscriptions/attribution/load-attribution.ts'
import { wakeBillingOf } from '../../../subscriptions/billing-time/next-billing.ts'
import type { UsageReader } from '../../usage/usage-reader.ts'
import { queueGroups } from './group-jobs.ts'

/** Customers whose subscriptions one transaction looks up. */
const CUSTOMERS_MAX = 1_000

type FollowDeps = {
  readonly database: Database
  readonly usage: Pick<UsageReader, 'positions' | 'touchedCustomers'>
}

/**
 * Makes the subscriptions due whose usage was touched since the last call; returns how many. The first call of a tenant
 * only remembers the positions of the log: earlier usage is counted when its invoices are computed again, within the
 * hour.
 */
export async function followUsage(deps: FollowDeps, tenant: Tenant): Promise<number> {
  // Read before the marks, so that the next call finds what is touched meanwhile.
  const positions = await deps.usage.positions()
  const since = await readTenant(deps.database, tenant, followed)
  const moved = since !== null && positions.some((position, partition) => position > (since[partition] ?? 0))
  const keys = moved
    ? await deps.usage.touchedCustomers(
        tenant,
        positions.map((_, place) => since[place] ?? 0),
      )
    : []
  let woken = 0
  for (let first = 0; first < keys.length; first += CUSTOMERS_MAX)
    woken += await inTenant(deps.database, tenant, SERVICE, uow => wake(uow, keys.slice(first, first + CUSTOMERS_MAX)))
  // Saved last: an interrupted call starts again, and making a subscription due twice does no harm.
  if (moved || since === null) await inTenant(deps.database, tenant, SERVICE, uow => remember(uow, positions))
  return woken
}

/** Events of a customer may be billed by its own subscriptions and by those of the customers above it. */
async function wake(uow: Uow, keys: readonly string[]): Promise<number> {
  const list = sql.param(keys)
  const found = await uow.tx
    .select({ id: customers.id })
    .from(customers)
    .where(
      sql`${inThisTenant(uow, customers)} and (${customers.id} = any(${list}) or ${customers.reference} = any(${list}))`,
    )
  const related = await loadAttribution(uow, { customerIds: found.map(({ id }) => id), with: 'PARENTS' })
  return await wakeBillingOf(
    uow,
    related.customers.map(({ id }) => id),
  )
}

async function followed(uow: ReadUow): Promise<number[] | null> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ positions: number[] }>(sql`
    select positions from followed_usage where platform_id = ${platformId} and environment = ${environment}`)
  return rows[0]?.positions ?? null
}

async function remember(uow: Uow, positions: readonly number[]): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    insert into followed_usage (platform_id, environment, positions)
    values (${platformId}, ${environment}, ${JSON.stringify(positions)}::jsonb)
    on conflict (platform_id, environment) do update set positions = excluded.positions`)
}

type JobDeps = FollowDeps & { /** In the role millrace_worker. */ readonly system: Database }

const FOLLOW_TENANT = { name: 'follow-usage-of-tenant' }

export const followJobs = [
  defineJob<JobDeps>({
    name: 'follow-usage',
    class: 'short',
    // How far an invoice that is not closed may lag behind its usage.
    every: '* * * * *',
    rights: { pricing_plan_subscriptions: ['select'] },
    run: ({ system }) =>
      asSystem(system, 'follow-usage', async tx => {
        const { rows } = await tx.execute<TenantPayload>(sql`
          select distinct platform_id, environment from pricing_plan_subscriptions where next_billing_at is not null`)
        await queueTenants(tx, FOLLOW_TENANT, rows)
      }),
  }),
  defineJob<JobDeps, TenantPayload>({
    ...FOLLOW_TENANT,
    class: 'short',
    rights: {},
    run: async (deps, payload) => {
      const woken = await followUsage(deps, tenantOf(payload))
      if (woken === 0) return
      const due = Array.from({ length: woken }, () => payload)
      await asSystem(deps.system, 'follow-usage', tx => queueGroups(tx, due))
    },
  }),
] as const
