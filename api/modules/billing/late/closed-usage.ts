// What an invoice counted when it was closed, and what it charged for it: enough to price the same time again by the
// same prices, and to know which events arrived too late for it. Written once, in the transaction that closes the
// invoice.
import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import type { PeriodLength } from '../../../../shared/billing/periods.ts'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import type { ConditionNamesInput } from '../../catalog/conditions/load-names.ts'
import type { LateEventPolicy } from '../../parties/platforms/schema.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { sendersOf } from '../terms/usage-parts.ts'
import { forNextInvoice } from './later-invoices.ts'

/** A metered charge of a closed invoice. Times are epoch milliseconds, `[start, end)`. */
export type ClosedCharge = {
  /** The same for every charge of one price over one pricing period, because they are rated as one. */
  readonly unit: string
  readonly schedule_id: string
  readonly item_id: string
  readonly config_id: string
  readonly product_item_id: string
  readonly pricing_type: string
  readonly billing_period: PeriodLength
  readonly service: readonly [number, number]
  /**
   * The time that was rated; longer than the service when a pricing period is longer, or when the state is carried
   * over.
   */
  readonly usage: readonly [number, number]
  /** The rated quantity, and how many events it comes from. */
  readonly number: string
  readonly count: string
  /** What the invoice charges for it, exactly and as printed; negative for a deduction. */
  readonly exact: string
  readonly printed: string
  /**
   * What markups, discounts and coupons on prices left of `printed`. Only where a minimum of this one price counts it and one of
   * those is about it; also absent in what was stored before this was.
   */
  readonly net?: string
  /** Of usage that is priced in credits: the credits that it cost. */
  readonly credits?: string
  /** The rates by which its price was converted; absent when it is in the currency of the invoice. */
  readonly exchange_rates?: readonly ExchangeRate[]
  /** The rates that held for its usage of money in other currencies; absent when none was converted. */
  readonly usage_rates?: readonly ExchangeRate[]
  /** The persisted usage at the start of `usage`, if any: `number` is on top of it. */
  readonly told?: { readonly id: string; readonly usage: string }
  /** How much of it belongs to each customer; absent where the invoice does not show that. */
  readonly parts?: readonly ClosedPart[]
  /** Not stored: the next invoice does not bill the late usage of its service, because a correction does. */
  readonly isElsewhere?: boolean
}

/** One customer's part of a closed charge, with the same fields as the charge. */
export type ClosedPart = Pick<ClosedCharge, 'number' | 'count' | 'exact' | 'printed'> & { readonly customer_id: string }

/** What a closed invoice counted. */
export type ClosedUsage = {
  readonly invoice_id: string
  /** The invoice for several subscriptions that it was issued in; null or absent for any other. */
  readonly combined_into_id?: string | null
  readonly subscription_id: string
  /** For each partition of the log: every event up to this position was counted. */
  readonly positions: readonly number[]
  /** The customer keys of events that could be counted. */
  readonly customer_keys: readonly string[]
  /** Hash of what the conditions named then; null when their prices name nothing that can change. */
  readonly names_hash: string | null
  readonly charges: readonly ClosedCharge[]
}

/** What is stored for one invoice that closes. */
export type Closing = {
  readonly inputs: BillingInputs
  readonly invoiceId: string
  /** The invoice for several subscriptions that it is issued in; null or absent for any other. */
  readonly combinedIntoId?: string | null
  readonly positions: readonly number[]
  readonly charges: readonly ClosedCharge[]
}

/**
 * Stores what these invoices counted, in the transaction that closes them and in the order in which they are closed.
 */
export async function saveClosedUsage(uow: Uow, all: readonly Closing[]): Promise<void> {
  if (all.length === 0) return
  const { platformId, environment } = uow.tenant
  const rows: object[] = []
  for (const { inputs, invoiceId, combinedIntoId, positions, charges } of all) {
    const from = charges.length === 0 ? null : Math.min(...charges.map(({ service }) => service[0]))
    const until = charges.length === 0 ? null : Math.max(...charges.map(({ service }) => service[1]))
    rows.push({
      place: rows.length,
      invoice_id: invoiceId,
      combined_into_id: combinedIntoId ?? null,
      pricing_plan_subscription_id: inputs.subscription.id,
      service_from: textOf(from),
      service_until: textOf(until),
      positions,
      customer_keys: sendersOf(inputs.attribution, inputs.subscription.id).flatMap(sender => sender.customerKeys),
      names_hash: await saveNames(uow, inputs.condition_names),
      charges,
    })
  }
  await uow.tx.execute(sql`
    insert into closed_usage (platform_id, environment, invoice_id, combined_into_id, pricing_plan_subscription_id, service_from,
      service_until, positions, customer_keys, names_hash, charges)
    select ${platformId}, ${environment}::environment, c.invoice_id, c.combined_into_id, c.pricing_plan_subscription_id, c.service_from,
      c.service_until, c.positions, c.customer_keys, c.names_hash, c.charges
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as c(place int, invoice_id text, combined_into_id text,
      pricing_plan_subscription_id text, service_from timestamptz, service_until timestamptz, positions jsonb, customer_keys jsonb, names_hash text, charges jsonb)
    order by c.place`)
}

const textOf = (ms: number | null): string | null => (ms === null ? null : formatInstant(instantOf(ms)))

/** Only the values of variables can change: without variables, the prices already say everything. */
async function saveNames(uow: Uow, names: ConditionNamesInput): Promise<string | null> {
  if (names.variables.length === 0) return null
  const { platformId, environment } = uow.tenant
  const text = JSON.stringify(names)
  const hash = createHash('sha256').update(text).digest('hex')
  await uow.tx.execute(sql`
    insert into closed_condition_names (platform_id, environment, hash, names)
    values (${platformId}, ${environment}, ${hash}, ${text}) on conflict do nothing`)
  return hash
}

const COLUMNS = sql`invoice_id, combined_into_id, pricing_plan_subscription_id as subscription_id, positions, customer_keys, names_hash, charges`

/** Of an invoice that was corrected, the invoice in its place counts (CREDIT_AND_REBILL). */
const COUNTS = sql`not exists (select from invoice_corrections k
  where k.platform_id = c.platform_id and k.environment = c.environment and k.original_invoice_id = c.invoice_id
    and k.status = 'ISSUED')`

/**
 * Whether an invoice `v` is not to be credited for late usage. It charged nothing: it is ARCHIVED, or every line of it is
 * 0, as of usage that is included. Usage that credits paid can be credited: the credits go back. Or it was issued with those
 * of other subscriptions: a correction would credit all of them.
 */
export const CHARGED_NOTHING = sql`(v.combined_into_id is not null or
  (v.status = 'ARCHIVED' or v.status = 'FINAL' and not exists (
    select from invoice_lines l
    where l.platform_id = v.platform_id and l.environment = v.environment and l.invoice_id = v.id
      and (l.amount_excluding_tax <> 0 or l.amount_including_tax <> 0)))
  and not (v.content @? '$.periods[*].groups[*].lines[*].details.wallet_balances[*]' or v.content @? '$.paid_by_credits'))`

/** Whether an invoice `v` of a subscription is issued: by itself, or with those of other subscriptions. */
export const IS_ISSUED = sql`(v.status = 'FINAL' or v.combined_into_id is not null)`

/** What the closed invoices of a subscription counted, in the order in which they were closed. */
export const closedUsageOf = (uow: ReadUow, subscriptionId: string): Promise<ClosedUsage[]> =>
  closedUsageOfMany(uow, [subscriptionId])

/** The same for many subscriptions, in the order of closing. */
async function closedUsageOfMany(uow: ReadUow, subscriptionIds: readonly string[]): Promise<ClosedUsage[]> {
  if (subscriptionIds.length === 0) return []
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<ClosedUsage>(sql`
    select ${COLUMNS} from closed_usage c
    where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id = any(${sql.param(subscriptionIds)})
      and service_from is not null and ${COUNTS}
    order by seq`)
  return rows
}

/**
 * The closed time of these subscriptions. Their next invoices bill its late usage (contract: late_event_policy).
 * With CREDIT_AND_REBILL, that is only the time of invoices that charged nothing: there is nothing to credit. The rest of
 * their pricing periods comes with it, marked.
 */
export async function closedForNext(
  uow: ReadUow,
  policy: LateEventPolicy,
  subscriptionIds: readonly string[],
): Promise<ClosedUsage[]> {
  if (!billsLateUsage(policy)) return []
  const closed = await closedUsageOfMany(uow, subscriptionIds)
  if (policy === 'NEXT_INVOICE' || closed.length === 0) return closed
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string }>(sql`
    select v.id from invoices v where v.platform_id = ${platformId} and v.environment = ${environment} and ${CHARGED_NOTHING}
      and v.id = any(${sql.param(closed.map(({ invoice_id }) => invoice_id))})`)
  return forNextInvoice(closed, new Set(rows.map(({ id }) => id)))
}

/** Whether late usage can go on the next invoice. */
export const billsLateUsage = (policy: LateEventPolicy): boolean => policy !== 'NOT_MATCHED'

/**
 * The last row of each of these subscriptions. Rows are only added, so an unchanged last row means that nothing was
 * closed since.
 */
export async function lastClosedOf(
  uow: ReadUow,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (subscriptionIds.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; last: string }>(sql`
    select pricing_plan_subscription_id as id, max(seq)::text as last from closed_usage
    where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id = any(${sql.param(subscriptionIds)})
    group by 1`)
  return new Map(rows.map(({ id, last }) => [id, last]))
}

/** The same for several subscriptions, limited to invoices with charges for time between two instants. */
export async function closedUsageAt(
  uow: ReadUow,
  subscriptionIds: readonly string[],
  between: readonly [firstMs: number, lastMs: number],
): Promise<ClosedUsage[]> {
  if (subscriptionIds.length === 0) return []
  const { platformId, environment } = uow.tenant
  const [first, last] = between
  const { rows } = await uow.tx.execute<ClosedUsage>(sql`
    select ${COLUMNS} from closed_usage c
    where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id = any(${sql.param(subscriptionIds)})
      and service_from <= to_timestamp(${last}::float8 / 1000) and service_until > to_timestamp(${first}::float8 / 1000)
      and ${COUNTS}
    order by seq`)
  return rows
}

/** What conditions named when invoices were closed, by hash. */
export async function closedNames(
  uow: ReadUow,
  hashes: readonly (string | null)[],
): Promise<Map<string, ConditionNamesInput>> {
  const wanted = [...new Set(hashes.filter(hash => hash !== null))]
  if (wanted.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ hash: string; names: ConditionNamesInput }>(sql`
    select hash, names from closed_condition_names
    where platform_id = ${platformId} and environment = ${environment} and hash = any(${sql.param(wanted)})`)
  return new Map(rows.map(({ hash, names }) => [hash, names]))
}

type Placed = { readonly customerKey: string; readonly place: { readonly partition: number; readonly seq: number } }

/** Whether the event at this position of the log, under this customer key, was counted when an invoice was closed. */
export const wasCounted = (
  { positions, customer_keys }: Pick<ClosedUsage, 'positions' | 'customer_keys'>,
  { customerKey, place }: Placed,
): boolean => place.seq <= (positions[place.partition] ?? 0) && customer_keys.includes(customerKey)
