// Up to which positions of the log usage was followed, and which subscriptions become due because theirs was touched.
import { and, sql } from 'drizzle-orm'
import {
  type Database,
  inTenant,
  type ReadUow,
  readTenant,
  SERVICE,
  type Uow,
} from '../../../../../shared/database/database.ts'
import { anyOf } from '../../../../../shared/database/statements/any-of.ts'
import { withNamedStatements } from '../../../../../shared/database/statements/named-statements.ts'
import { idsOf } from '../../../../../shared/ids.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { formatInstant } from '../../../../../shared/time.ts'
import { inThisTenant } from '../../../../resource/tenant-condition.ts'
import type { ChangedCustomer } from '../../../../usage/changes/changed-customers.ts'
import { customers } from '../../../parties/customers/table.ts'
import { loadRelatedCustomers } from '../../../subscriptions/attribution/load-attribution.ts'
import { wakeBillingOfChanged, wakeBillings } from '../../../subscriptions/billing-time/next-billing.ts'
import { subscriptions } from '../../../subscriptions/table.ts'
import type { UsageReader } from '../../usage/usage-reader.ts'
import { changedWithParents, latest } from './changed-with-parents.ts'

/**
 * Customers whose subscriptions one transaction makes due, at one time: a group of the billing run. They come in the order in which
 * ClickHouse keeps their usage, so each group reads neighbours and not rows of all others between them.
 */
const CUSTOMERS_MAX = 250
/** Customers that one statement passes over a second time. */
const PASSED_MAX = 2_500

export type FollowDeps = {
  readonly database: Database
  readonly usage: Pick<UsageReader, 'positions' | 'changedCustomers'>
}

/**
 * Makes the subscriptions due whose usage was touched since the last call, or ever before the first; returns how many. Those that were
 * billed since it was touched have counted it, and are left alone.
 */
export async function followUsage(deps: FollowDeps, tenant: Tenant): Promise<number> {
  // Read before the marks, so that the next call finds what is touched meanwhile.
  const positions = await deps.usage.positions()
  const since = await readTenant(deps.database, tenant, followed)
  const moved = isBeyond(positions, since ?? [])
  const keys = moved
    ? await deps.usage.changedCustomers(
        tenant,
        positions.map((_, place) => since?.[place] ?? 0),
      )
    : []
  const passed = new Map<string, readonly number[]>()
  let woken = 0
  for (let first = 0; first < keys.length; first += CUSTOMERS_MAX)
    woken += await inTenant(deps.database, tenant, SERVICE, async uow => {
      const touched = await customersNamed(uow, keys.slice(first, first + CUSTOMERS_MAX))
      // A customer may be above those of several groups.
      for (const [id, own] of touched) passed.set(id, latest(passed.get(id) ?? [], own))
      return (await wakeBillingOfChanged(uow, touched)).length
    })
  // Saved after that: an interrupted call starts again, and making a subscription due twice does no harm.
  if (moved || since === null) await inTenant(deps.database, tenant, SERVICE, uow => remember(uow, positions))
  // A run that saved after its subscriptions were passed over, and before the positions were, could not know of this call (wakeMissed).
  // Where many wait for a run, most are due still.
  for (let first = 0; first < passed.size; first += PASSED_MAX)
    woken += await inTenant(deps.database, tenant, SERVICE, async uow => {
      const part = [...passed].slice(first, first + PASSED_MAX)
      const left = await customersNotDue(uow, new Set(part.map(([id]) => id)))
      return (await wakeBillingOfChanged(uow, new Map(part.filter(([id]) => left.has(id))))).length
    })
  return woken
}

/**
 * For subscriptions that were just billed with usage up to `positions`. A call of followUsage meanwhile left them alone, because they were
 * due. Makes those due again whose usage it found touched, and returns their ids.
 */
export async function wakeMissed(
  deps: FollowDeps,
  tenant: Tenant,
  { ids, positions }: { readonly ids: readonly string[]; readonly positions: readonly number[] },
): Promise<string[]> {
  const seen = await readTenant(deps.database, tenant, followed)
  if (seen === null || !isBeyond(seen, positions)) return []
  const keys = await deps.usage.changedCustomers(tenant, positions)
  if (keys.length === 0) return []
  return await inTenant(deps.database, tenant, SERVICE, async uow => {
    // Where the usage of so many moves, that of these most likely does.
    if (keys.length > CUSTOMERS_MAX) return await wakeBillings(uow, ids)
    return await wakeBillings(uow, await billedOf(uow, ids, [...(await customersNamed(uow, keys)).keys()]))
  })
}

const isBeyond = (positions: readonly number[], since: readonly number[]): boolean =>
  positions.some((position, partition) => position > (since[partition] ?? 0))

/** Customers, and for each partition of the log the last position that touched their usage. */
type ChangedPositions = ReadonlyMap<string, readonly number[]>

/** Whose subscriptions may bill the events of these: their own, and those of the customers above them. */
async function customersNamed(uow: Uow, keys: readonly ChangedCustomer[]): Promise<ChangedPositions> {
  const list = sql.param(keys.map(({ key }) => key))
  const reading = withNamedStatements(uow)
  const found = await reading.tx
    .select({ id: customers.id, reference: customers.reference, terms: customers.attribution_terms })
    .from(customers)
    .where(
      sql`${inThisTenant(uow, customers)} and (${customers.id} = any(${list}) or ${customers.reference} = any(${list}))`,
    )
  if (found.length === 0) return new Map()
  const byKey = new Map(keys.map(({ key, positions }) => [key, positions]))
  const own = new Map<string, readonly number[]>()
  for (const { id, reference } of found)
    own.set(id, latest(byKey.get(id) ?? [], reference === null ? [] : (byKey.get(reference) ?? [])))
  const children = found.filter(({ terms }) => terms?.some(term => term.parent_customer_ids.length > 0))
  if (children.length === 0) return own
  const ids = children.map(({ id }) => id)
  return changedWithParents(await loadRelatedCustomers(reading, ids, 'PARENTS'), own)
}

/** Those of these customers who have a subscription that is not due. */
async function customersNotDue(uow: Uow, ids: ReadonlySet<string>): Promise<Set<string>> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ customer_id: string }>(sql`
    select distinct s.customer_id from pricing_plan_subscriptions s
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.customer_id = any(${sql.param([...ids])})
      and s.status in ('ACTIVE', 'CANCELLED') and (s.next_billing_at > ${formatInstant(uow.now)}::timestamptz or s.next_billing_at is null)`)
  return new Set(rows.map(({ customer_id }) => customer_id))
}

/** Those of these subscriptions that bill one of these customers. */
async function billedOf(uow: Uow, ids: readonly string[], customerIds: readonly string[]): Promise<string[]> {
  const { id, customer_id } = subscriptions
  const rows = await uow.tx
    .select({ id })
    .from(subscriptions)
    .where(
      and(
        inThisTenant(uow, subscriptions),
        anyOf(id, idsOf('ppsu', ids)),
        anyOf(customer_id, idsOf('cust', customerIds)),
      ),
    )
  return rows.map(row => row.id)
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
