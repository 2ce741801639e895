// How billing reads usage: a figure, and whether everything accepted so far is in it.
import type { JetStreamManager } from '@nats-io/jetstream'
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { type Database, readTenant } from '../../../../shared/database/database.ts'
import { logEnds } from '../../../../shared/log/streams.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { Clock, Instant } from '../../../../shared/time.ts'
import type { ClickHouseClient } from '../../../../shared/usage/clickhouse.ts'
import { usageAnswer, usageAnswers, usageRefusal } from '../../../usage/answered.ts'
import { batchChangeQueries } from '../../../usage/changes/batch-change-queries.ts'
import { type ChangedCustomer, changedCustomers } from '../../../usage/changes/changed-customers.ts'
import { type CustomerMark, latestMarks, type MarksQuery } from '../../../usage/changes/latest-marks.ts'
import type { ChangeQuery } from '../../../usage/changes/usage-changes.ts'
import { type CountedEvent, type CountedQuery, countedEvents } from '../../../usage/counted-events.ts'
import { eventValues } from '../../../usage/event-values.ts'
import { gatherQueries, oneQuery, type QueryUsage } from '../../../usage/query/gather-queries.ts'
import { type Answer, queryUsages } from '../../../usage/query/query-usages.ts'
import { type EntriesQuery, type ReceiptEntries, receiptEntries } from '../../../usage/receipt-entries.ts'
import { storedPositions, usageUpToDate, waitForUsage } from '../../../usage/up-to-date.ts'
import type { UsageCalculation, UsageQuery } from '../../../usage/usage-query.ts'
import { loadRates } from '../../parties/exchange-rates/load-rates.ts'
import type { Charge } from '../charges/charge.ts'
import type { BillingInputs, CalculationInput } from '../terms/billing-inputs.ts'
import { type UsagePart, usageParts } from '../terms/usage-parts.ts'
import {
  attributedUsage,
  combinedUsage,
  questionsOf,
  type ReadUsagePart,
  type UsagePartQuery,
} from './attributed-usage.ts'
import { inPricingCurrency, preferInvoiceRates } from './convert-usage.ts'
import { type UsageOfCustomers, usageOfCustomers } from './customer-usage.ts'
import { usageByValue } from './event-usage.ts'
import { splitUsage } from './split-usage.ts'
import {
  type CustomerFigure,
  type CustomerFigures,
  type UsageFigure,
  type UsageFigures,
  type UsageNeed,
  usageNeeds,
} from './usage-needs.ts'

export type UsageReader = {
  /**
   * The figures of one need, from the events in `parts`, up to these positions of the log when given. Reads started
   * without waiting in between are sent as one.
   */
  read(
    tenant: Tenant,
    parts: readonly UsagePart[],
    need: UsageNeed,
    upTo?: readonly number[],
  ): Promise<readonly UsageFigure[]>
  /** The same, and the figures of each customer's events on their own. */
  readByCustomer(
    tenant: Tenant,
    parts: readonly UsagePart[],
    need: UsageNeed,
    upTo?: readonly number[],
  ): Promise<UsageOfCustomers>
  /**
   * The quantities of each question, at most `max` for each, as `queryUsages` returns them: in the order of the
   * questions.
   */
  quantities(questions: readonly UsageQuery[], max: number): Promise<readonly Answer[]>
  /** Waits until everything accepted before the call can be read; false when that took longer than `timeoutMs`. */
  settle(timeoutMs: number): Promise<boolean>
  /** For each partition of the log: everything up to this position can be read. */
  positions(): Promise<number[]>
  /** How far usage can be read now. It takes one question to the log and one to ClickHouse. */
  progress(clock: Clock): Promise<ReadingProgress>
  /** Whether the log still ends at these positions, so that nothing was accepted after them. It reads no usage. */
  endsAt(positions: readonly number[]): Promise<boolean>
  /**
   * For each question and each piece of time, whether usage in it changed after its positions. Questions made without
   * waiting in between are sent as one.
   */
  changedSince(tenant: Tenant, questions: readonly ChangeQuery[]): Promise<boolean[][]>
  /** The last position of the log that touched the usage of each of these customers on these meters. */
  latestMarks(tenant: Tenant, question: MarksQuery): Promise<readonly CustomerMark[]>
  /** The customers whose usage was touched after these positions of the log, as events name them. */
  changedCustomers(tenant: Tenant, since: readonly number[]): Promise<readonly ChangedCustomer[]>
  /** The individual events behind figures, in order of time. */
  events(tenant: Tenant, query: CountedQuery): Promise<readonly CountedEvent[]>
  /** What receipts need of them, in the order of receipts and some at a time, since they may be millions. */
  receiptEntries(tenant: Tenant, query: EntriesQuery): AsyncGenerator<readonly ReceiptEntries[]>
  /** Everything that the gateways accepted before this instant can be read. */
  upToDateUntil(clock: Clock): Promise<Instant>
}

export type ReadingProgress = {
  /** For each partition of the log: everything up to this position can be read. */
  readonly positions: readonly number[]
  /** Everything that the gateways accepted before this instant can be read; null where the log does not answer. */
  readonly upToDateUntil: Instant | null
  /** Whether everything accepted before the call can be read. Where the log does not answer this is not known, and false. */
  readonly isComplete: boolean
}

/** What is made of so many answers takes some tens of milliseconds. */
const ANSWERS_A_TURN = 1_000

/**
 * Reads usage from ClickHouse; the end positions of the log tell what must be readable. SERVICE_UNAVAILABLE when either
 * is unreachable.
 */
export function createUsageReader(deps: {
  readonly client: ClickHouseClient
  readonly jsm: JetStreamManager
  readonly partitions: number
  /** Whether other requests wait meanwhile. */
  readonly answersRequests?: boolean
}): UsageReader {
  const askAll = gatherQueries(deps.client, undefined, deps.answersRequests ? ANSWERS_A_TURN : undefined)
  const ask = oneQuery(askAll)
  const readChanges = batchChangeQueries(deps.client)
  const askValues: QueryUsage = query => eventValues(deps.client, query)
  const positions = async (): Promise<number[]> => {
    const stored = await usageAnswer(storedPositions(deps.client))
    return Array.from({ length: deps.partitions }, (_, partition) => stored.get(partition)?.seq ?? 0)
  }
  const reading = (of: PartsOfNeed) => partReader(of.need.byValue ? askValues : ask, of)
  return {
    read: (tenant, parts, need, upTo) => {
      const of = { tenant, need, upTo }
      const calculation = usageCalculationOf(need.calculation)
      if (need.byValue || need.splitBy !== null || calculation.type === 'UNIQUE')
        return usageAnswer(figuresOf(parts, need, reading(of)))
      // Nearly all needs are these: one promise for each, since a run has thousands of them waiting.
      const queries = questionsOf(parts, calculation).map(question => queryOf(of, question))
      return askAll(queries, answers => combinedUsage(parts, calculation, answers), usageRefusal)
    },
    readByCustomer: (tenant, parts, need, upTo) =>
      usageAnswer(figuresByCustomer(parts, need, of => reading({ tenant, need: of, upTo }))),
    quantities: (questions, max) => usageAnswer(queryUsages(deps.client, questions, max)),
    settle: timeoutMs =>
      usageAnswer(logEnds(deps.jsm, deps.partitions).then(ends => waitForUsage(deps.client, { ends, timeoutMs }))),
    positions,
    progress: async clock => {
      const known = await usageUpToDate({ ...deps, clock }).catch(() => null)
      // The log may be away, and usage can be read all the same.
      if (known === null) return { positions: await positions(), upToDateUntil: null, isComplete: false }
      return {
        positions: known.partitions.map(({ storedSeq }) => storedSeq),
        upToDateUntil: known.upToDateUntil,
        isComplete: known.partitions.every(({ storedSeq, endSeq }) => storedSeq >= endSeq),
      }
    },
    endsAt: async positions => {
      const ends = await usageAnswer(logEnds(deps.jsm, deps.partitions))
      return [...ends].every(([partition, end]) => end <= (positions[partition] ?? 0))
    },
    changedSince: (tenant, questions) => usageAnswer(readChanges(tenant, questions)),
    latestMarks: (tenant, question) => usageAnswer(latestMarks(deps.client, tenant, question)),
    changedCustomers: (tenant, since) => usageAnswer(changedCustomers(deps.client, tenant, since)),
    events: (tenant, query) => usageAnswer(countedEvents(deps.client, tenant, query)),
    receiptEntries: (tenant, query) => usageAnswers(receiptEntries(deps.client, tenant, query)),
    upToDateUntil: async clock => (await usageAnswer(usageUpToDate({ ...deps, clock }))).upToDateUntil,
  }
}

function figuresOf(parts: readonly UsagePart[], need: UsageNeed, read: ReadUsagePart): Promise<UsageFigure[]> {
  const calculation = usageCalculationOf(need.calculation)
  if (need.byValue) return usageByValue(parts, calculation, read)
  return need.splitBy === null
    ? attributedUsage(parts, calculation, read)
    : splitUsage(parts, calculation, { read, width: need.splitBy.length })
}

/** Each customer's part does not depend on how the price is split. */
async function figuresByCustomer(
  parts: readonly UsagePart[],
  need: UsageNeed,
  reading: (need: UsageNeed) => ReadUsagePart,
): Promise<UsageOfCustomers> {
  const together = reading({ ...need, splitBy: null, byValue: false })
  const whole = usageOfCustomers(parts, usageCalculationOf(need.calculation), together)
  if (need.splitBy === null && !need.byValue) return await whole
  const [{ byCustomer }, figures] = await Promise.all([whole, figuresOf(parts, need, reading(need))])
  return { figures, byCustomer }
}

type PartsOfNeed = {
  readonly tenant: Tenant
  readonly need: UsageNeed
  readonly upTo: readonly number[] | undefined
}

/** Queries the usage module for parts of a need. */
const partReader =
  (ask: QueryUsage, of: PartsOfNeed): ReadUsagePart =>
  question =>
    ask(queryOf(of, question))

function queryOf(
  { tenant, need, upTo }: PartsOfNeed,
  { customerKeys, interval, calculation, askingFor, grouped, splitBy }: UsagePartQuery,
): UsageQuery {
  const split = (need.splitBy ?? []).map(({ reference, type }) => ({ reference, type }))
  return {
    tenant,
    customerKeys,
    meterReference: need.calculation.meter_reference,
    interval,
    calculation,
    ...(need.condition === null ? {} : { condition: need.condition }),
    ...(split.length === 0 && splitBy === undefined ? {} : { splitBy: [...split, ...(splitBy ? [splitBy] : [])] }),
    ...(askingFor ? { askingFor } : {}),
    ...(grouped ? { groupBySubscription: true } : {}),
    ...(upTo === undefined ? {} : { upTo }),
  }
}

/** A calculation of the catalog in the form of a usage query. */
export function usageCalculationOf(calculation: CalculationInput): UsageCalculation {
  const { calculation_type: type, value_reference: value, property_reference, property_type } = calculation
  if (type === 'UNIQUE') {
    if (property_reference === null || property_type === null)
      throw new Error(`the calculation ${calculation.id} has no property`)
    return { type, property: { reference: property_reference, type: property_type } }
  }
  if (value === null) throw new Error(`the calculation ${calculation.id} has no value`)
  return { type, valueReference: value }
}

export type ReadUsage = {
  readonly usage: UsageFigures
  /** Null when the lines of the subscription's invoices are not shared among customers. */
  readonly usageByCustomer: CustomerFigures | null
}

/** What usage is read from: its figures, and the exchange rates of money in other currencies than its price. */
export type UsageDeps = { readonly database: Database; readonly usage: UsageReader }

/** Reads the usage of these charges, from the subscription's own events. */
export const readUsage = (
  deps: UsageDeps,
  { tenant, inputs, charges }: { tenant: Tenant; inputs: BillingInputs; charges: readonly Charge[] },
): Promise<ReadUsage> => readNeeds(deps, { tenant, inputs, needs: usageNeeds(charges) })

/** Reads these needs, from the events up to these positions of the log when given. */
export async function readNeeds(
  { database, usage }: UsageDeps,
  of: {
    readonly tenant: Tenant
    readonly inputs: BillingInputs
    readonly needs: readonly UsageNeed[]
    readonly upTo?: readonly number[]
    /** The rates of an invoice that is FINAL; the stored ones where none are given. */
    readonly rates?: readonly ExchangeRate[]
    /** The rates of an invoice that is corrected: they win over the stored ones. */
    readonly keptRates?: readonly ExchangeRate[]
  },
): Promise<ReadUsage> {
  const { attribution, subscription } = of.inputs
  const stored = async (currencies: readonly string[], since: Instant): Promise<readonly ExchangeRate[]> =>
    of.rates ?? (await readTenant(database, of.tenant, uow => loadRates(uow, currencies, since)))
  const { needs, upTo } = of
  // Credits that were granted for a seat pay for the usage of its occupant alone.
  const perSeat = (of.inputs.seats ?? []).some(({ customer_id }) => customer_id !== undefined)
  const perCustomer = subscription.display_invoice_sub_lines_per_processing_only_customer || perSeat
  const figures = new Map<string, readonly UsageFigure[]>()
  const byCustomer = new Map<string, readonly CustomerFigure[]>()
  const partsOf = ({ interval, calculation }: UsageNeed): readonly UsagePart[] =>
    usageParts(attribution, {
      ...{ subscriptionId: subscription.id, meterReference: calculation.meter_reference, interval },
    })
  const read = async (need: UsageNeed): Promise<UsageOfCustomers> =>
    perCustomer
      ? await usage.readByCustomer(of.tenant, partsOf(need), need, upTo)
      : { figures: await usage.read(of.tenant, partsOf(need), need, upTo), byCustomer: [] }
  const convert = async (need: UsageNeed, metered: UsageOfCustomers): Promise<void> => {
    const kept = need.keptRates ?? of.keptRates ?? []
    const rates = async (currencies: readonly string[], since: Instant) =>
      preferInvoiceRates(kept, await stored(currencies, since))
    const found = await inPricingCurrency(need, metered, { read, rates })
    figures.set(need.key, found.figures)
    if (perCustomer) byCustomer.set(need.key, found.byCustomer)
  }
  // All at once, so that they are one query to ClickHouse.
  await Promise.all(
    needs.map(need =>
      perCustomer || need.currency
        ? read(need).then(metered => convert(need, metered))
        : // Plain numbers are converted to nothing. A run has thousands of them waiting.
          usage.read(of.tenant, partsOf(need), need, upTo).then(found => figures.set(need.key, found)),
    ),
  )
  return { usage: figures, usageByCustomer: perCustomer ? byCustomer : null }
}
