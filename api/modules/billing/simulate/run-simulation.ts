// Runs one simulation: chooses the customers and their invoices once, then rates them in groups. What a group found is
// stored with it, so a run that is killed, or started twice, continues where it was.
import { sql } from 'drizzle-orm'
import { inTenant, readTenant, SERVICE, type Uow } from '../../../../shared/database/database.ts'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { updateMany } from '../../../resource/rows/many-rows.ts'
import { IS_ISSUED } from '../late/closed-usage.ts'
import type { KnownCatalogs } from '../pinned/store-pinned.ts'
import type { BillingDeps } from '../run/compute-invoice.ts'
import { SUBSCRIPTION_BILLING } from '../run/state/subscription-invoices.ts'
import type { Candidate } from './candidate.ts'
import { changePercentage, differenceView, outcomeOf } from './compare.ts'
import { breachesOf } from './limits.ts'
import { type FinalInvoices, loadFinalInvoices } from './load-closed.ts'
import type { SimulationResult } from './schema.ts'
import { type Simulated, simulateGroup } from './simulate-group.ts'
import { candidateOf, getSimulation, isFinished, lockSimulation, moveSimulation } from './simulations.ts'
import { type Simulation, simulatedCustomers } from './table.ts'

/** Customers in a group: enough to share the cost of reading, few enough to take only seconds. */
const GROUP_MAX = 250

export type SimulationRun = {
  readonly tenant: Tenant
  readonly id: string
  /** True on the last try: an error then ends the simulation. */
  readonly last: boolean
  /** Aborted when the worker stops. */
  readonly stop?: AbortSignal
  /** Customers in a group; otherwise as many as are good for speed. */
  readonly groupMax?: number
}

/** Runs a simulation to its end. Throws temporary errors, so that it is tried again; on the last try they end it. */
export async function runSimulation(deps: BillingDeps, run: SimulationRun): Promise<void> {
  const { tenant, id, last, stop, groupMax = GROUP_MAX } = run
  const started = await inTenant(deps.database, tenant, SERVICE, uow => begin(uow, id))
  if (!started) return
  try {
    const candidate = await readTenant(deps.database, tenant, async uow =>
      candidateOf(uow, await getSimulation(uow, id)),
    )
    await runGroups(deps, tenant, { id, candidate, catalogs: new Map(), groupMax, ...(stop ? { stop } : {}) })
  } catch (error) {
    if (last) await inTenant(deps.database, tenant, SERVICE, uow => fail(uow, id, error))
    throw error
  }
}

/** False when there is nothing to do: it has ended, or was deleted. */
async function begin(uow: Uow, id: string): Promise<boolean> {
  const row = await lockSimulation(uow, id)
  if (!row || isFinished(row)) return false
  if (row.status === 'IN_PROGRESS') return true
  await chooseInvoices(uow, row)
  await moveSimulation(uow, row, { status: 'IN_PROGRESS' })
  return true
}

/**
 * The last closed periods of every ACTIVE subscription that is on the plan now: its FINAL invoices that collect a
 * period, and that no copy has replaced.
 */
async function chooseInvoices(uow: Uow, { id, pricing_plan_id: planId, periods }: Simulation): Promise<void> {
  const { platformId, environment } = uow.tenant
  const now = sql`${formatInstant(uow.now)}::timestamptz`
  await uow.tx.execute(sql`
    insert into simulated_customers (platform_id, environment, id, simulation_id, customer_id, currency, invoice_ids, status)
    select ${platformId}, ${environment}::environment, 'simc_' || left(replace(gen_random_uuid()::text, '-', ''), 22), ${id},
      customer_id, billing_currency, jsonb_agg(id order by id), 'SCHEDULED'
    from (
      select v.id, s.customer_id, v.billing_currency,
        row_number() over (partition by s.id order by v.cutoff_at desc, v.id desc) as place
      from pricing_plan_subscriptions s
      join invoices v on v.platform_id = s.platform_id and v.environment = s.environment
        and v.pricing_plan_subscription_id = s.id
      where s.platform_id = ${platformId} and s.environment = ${environment} and s.status = 'ACTIVE'
        and s.customer_id is not null and ${IS_ISSUED} and v.producer = ${SUBSCRIPTION_BILLING}
        and v.holds_period and not v.advance_only
        and exists (select from pricing_plan_schedules c
          where c.platform_id = s.platform_id and c.environment = s.environment and c.pricing_plan_subscription_id = s.id
            and c.status = 'ACTIVE' and c.pricing_plan_id = ${planId}
            and c.start_at <= ${now} and (c.end_at is null or c.end_at > ${now}))
    ) chosen
    where place <= ${periods}
    group by customer_id, billing_currency`)
}

type Groups = {
  readonly id: string
  readonly candidate: Candidate
  readonly catalogs: KnownCatalogs
  readonly groupMax: number
  readonly stop?: AbortSignal
}

/**
 * Rates all that are left, in order. While the usage of a group is read and priced, the next one is begun: ClickHouse and the worker
 * then work at the same time. Ends early when the simulation or its worker was stopped.
 */
async function runGroups(deps: BillingDeps, tenant: Tenant, of: Groups): Promise<void> {
  const begin = (after: string) => {
    const taken = takeGroup(deps, tenant, { ...of, after })
    const rated = taken.then(group => rateGroup(deps, tenant, { ...group, candidate: of.candidate }))
    // A failure is thrown when its turn comes; nothing awaits it before.
    rated.catch(() => undefined)
    return { taken, rated }
  }
  let current = begin('')
  while (of.stop?.aborted !== true) {
    const { customers } = await current.taken
    const last = customers.length === of.groupMax ? customers.at(-1) : undefined
    const next = last && begin(last.id)
    try {
      const rows = await current.rated
      const going = await storeGroup(deps, tenant, { id: of.id, rows, isLast: !next })
      await deps.failpoint?.('simulate.after-group')
      if (going && next) {
        current = next
        continue
      }
    } catch (error) {
      await next?.rated.catch(() => undefined)
      throw error
    }
    await next?.rated.catch(() => undefined)
    return
  }
  await current.rated.catch(() => undefined)
}

type TakenGroup = {
  readonly customers: readonly { readonly id: string; readonly invoice_ids: readonly string[] }[]
  readonly finals: FinalInvoices
}

/** The next customers that are not rated yet, and their invoices. */
async function takeGroup(
  deps: BillingDeps,
  tenant: Tenant,
  { id, catalogs, groupMax, after }: Groups & { readonly after: string },
): Promise<TakenGroup> {
  return await readTenant(deps.database, tenant, async uow => {
    const { platformId, environment } = uow.tenant
    const { rows } = await uow.tx.execute<{ id: string; invoice_ids: string[] }>(sql`
      select id, invoice_ids from simulated_customers
      where platform_id = ${platformId} and environment = ${environment} and simulation_id = ${id} and status = 'SCHEDULED'
        and id > ${after}
      order by id limit ${groupMax}`)
    const ids = rows.flatMap(row => row.invoice_ids)
    return { customers: rows, finals: await loadFinalInvoices(uow, ids, catalogs) }
  })
}

type RatedRow = { readonly id: string } & ReturnType<typeof customerResult>

async function rateGroup(
  deps: BillingDeps,
  tenant: Tenant,
  { customers, finals, candidate }: TakenGroup & { readonly candidate: Candidate },
): Promise<RatedRow[]> {
  const found: Simulated = customers.length === 0 ? new Map() : await simulateGroup(deps, tenant, { finals, candidate })
  const subscriptionOf = new Map(finals.invoices.map(invoice => [invoice.id, invoice.subscriptionId]))
  return customers.map(({ id, invoice_ids: invoiceIds }) => {
    const own = [...new Set(invoiceIds.flatMap(invoice => subscriptionOf.get(invoice) ?? []))]
    return { id, ...customerResult(own.flatMap(subscription => found.get(subscription) ?? [])) }
  })
}

/** False when the simulation was stopped. */
async function storeGroup(
  deps: BillingDeps,
  tenant: Tenant,
  { id, rows, isLast }: { readonly id: string; readonly rows: readonly RatedRow[]; readonly isLast: boolean },
): Promise<boolean> {
  return await inTenant(deps.database, tenant, SERVICE, async uow => {
    const row = await lockSimulation(uow, id)
    if (row?.status !== 'IN_PROGRESS') return false
    await updateMany(uow, simulatedCustomers, rows)
    if (isLast) await finish(uow, row)
    else await progress(uow, row)
    return true
  })
}

type OfSubscription =
  | { readonly invoices: NonNullable<typeof simulatedCustomers.$inferSelect.invoices> }
  | {
      readonly message: string
    }

/** The columns of a customer, from those of its subscriptions. */
function customerResult(all: readonly OfSubscription[]) {
  const failed = all.find(each => 'message' in each)
  if (failed) return { status: 'ERROR', message: failed.message }
  const invoices = all.flatMap(each => ('invoices' in each ? each.invoices : []))
  const total = (name: 'amount' | 'simulated_amount') => sum(invoices.map(each => decimal(each[name].quantity)))
  const [before, after] = [total('amount'), total('simulated_amount')]
  const difference = after.minus(before)
  return {
    status: 'DONE',
    outcome: outcomeOf(difference),
    amount: plain(before),
    simulated_amount: plain(after),
    difference: plain(difference),
    invoices,
  }
}

/** Progress emits no event; changes of status tell when the simulation starts and ends. */
async function progress(uow: Uow, { id }: Simulation): Promise<void> {
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    update pricing_plan_version_simulations set updated_at = ${formatInstant(uow.now)}, percentage = (
      select 100 * count(*) filter (where status <> 'SCHEDULED') / greatest(count(*), 1) from simulated_customers
      where platform_id = ${platformId} and environment = ${environment} and simulation_id = ${id})
    where platform_id = ${platformId} and environment = ${environment} and id = ${id}`)
}

/** Adds up what was found, and holds it against the limits. */
async function finish(uow: Uow, row: Simulation): Promise<void> {
  const result = await resultOf(uow, row)
  await moveSimulation(uow, row, {
    status: result.breaches.length === 0 ? 'DONE' : 'FAILED',
    percentage: 100,
    result,
    finished_at: formatInstant(uow.now),
  })
}

type TotalRow = {
  readonly currency: string
  readonly amount: string
  readonly difference: string
  readonly winners: number
  readonly losers: number
  readonly unchanged: number
  readonly failed: number
  readonly above: number
  readonly highest: string | null
}

async function resultOf(uow: Uow, row: Simulation): Promise<SimulationResult> {
  const { platformId, environment } = uow.tenant
  // Any rise is above any limit where nothing was billed.
  const isAbove = sql`difference > 0 and difference * 100 > ${row.max_customer_increase}::numeric * abs(amount)`
  const { rows } = await uow.tx.execute<TotalRow>(sql`
    select currency, coalesce(sum(amount), 0)::text as amount, coalesce(sum(difference), 0)::text as difference,
      count(*) filter (where outcome = 'WINNER')::int as winners, count(*) filter (where outcome = 'LOSER')::int as losers,
      count(*) filter (where outcome = 'UNCHANGED')::int as unchanged, count(*) filter (where status = 'ERROR')::int as failed,
      count(*) filter (where ${isAbove})::int as above,
      (array_agg(customer_id order by difference / nullif(abs(amount), 0) desc nulls first, difference desc, customer_id)
        filter (where ${isAbove}))[1] as highest
    from simulated_customers
    where platform_id = ${platformId} and environment = ${environment} and simulation_id = ${row.id}
    group by currency order by currency`)
  const totals = rows.map(each => ({
    currency: each.currency,
    amount: decimal(each.amount),
    difference: decimal(each.difference),
    customersAbove: each.above,
    highest: each.highest,
  }))
  const count = (name: 'winners' | 'losers' | 'unchanged' | 'failed') =>
    rows.reduce((total, each) => total + each[name], 0)
  const counts = {
    number_of_winners: count('winners'),
    number_of_losers: count('losers'),
    number_of_unchanged: count('unchanged'),
    number_of_failed: count('failed'),
  }
  return {
    number_of_customers: Object.values(counts).reduce((total, each) => total + each, 0),
    ...counts,
    totals: totals.map(({ currency, amount, difference }) => ({
      currency,
      ...differenceView(amount, amount.plus(difference), currency),
      change_percentage: changePercentage(amount, difference),
    })),
    breaches: breachesOf(totals, {
      max_revenue_change: row.max_revenue_change,
      max_customer_increase: row.max_customer_increase,
      failed: counts.number_of_failed,
    }),
  }
}

async function fail(uow: Uow, id: string, error: unknown): Promise<void> {
  const row = await lockSimulation(uow, id)
  if (!row || isFinished(row)) return
  const message =
    error instanceof AppError ? error.message : 'Something went wrong on our side; create the simulation again.'
  await moveSimulation(uow, row, { status: 'ERROR', message, finished_at: formatInstant(uow.now) })
}
