// The history checker: what ClickHouse counts, held against what senders were told. It shares no arithmetic with the
// product: quantities are whole numbers of 10^-12 here.
import { queryUsages } from '../../api/usage/query/query-usages.ts'
import { waitForUsage } from '../../api/usage/up-to-date.ts'
import { plain } from '../../shared/decimal.ts'
import { AppError } from '../../shared/errors.ts'
import { untilBrokerAnswers } from '../../shared/log/connect.ts'
import { logEnds } from '../../shared/log/streams.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import type { Environment } from '../../shared/tenant.ts'
import { instantOf, interval } from '../../shared/time.ts'
import { selectRows } from '../../shared/usage/clickhouse.ts'
import { METER_REFERENCE, PROPERTY_REFERENCE, VALUE_REFERENCES } from '../load/events.ts'
import { contentOf, type Ledger, type SentEvent, scaled } from './ledger.ts'
import { CLICKHOUSE_AWAY_MS } from './scale.ts'
import type { System } from './start-system.ts'

export type Reconciliation = {
  readonly acked: number
  readonly counted: number
  /** Repeats that reached the log and were told apart there. */
  readonly duplicates: number
  /** Empty when every acknowledged event is counted exactly once with its content and every sum is exact. */
  readonly faults: readonly string[]
}
type Tenant = { readonly platformId: string; readonly environment: Environment }

/** A minute, and as long again as ClickHouse was made to stay away. */
const SETTLE_MS = 60_000 + CLICKHOUSE_AWAY_MS
const FAULTS_SHOWN = 20

/** Waits until everything accepted so far is in ClickHouse. Throws when that takes more than SETTLE_MS. */
export async function settle(system: System): Promise<void> {
  // A broker that was killed a moment ago may lose a question that was on its way.
  const ends = await untilBrokerAnswers(() => logEnds(system.jsm, system.partitions), silentLogger)
  if (!(await waitForUsage(system.clickhouse, { ends, timeoutMs: SETTLE_MS })))
    throw new Error(`what was accepted is not in ClickHouse after ${SETTLE_MS} ms: ${[...ends]}`)
}

/** Compares after `settle`. `within` holds every timestamp that was sent. */
export async function reconcile(
  system: System,
  tenant: Tenant,
  ledger: Ledger,
  within: { readonly startMs: number; readonly endMs: number },
): Promise<Reconciliation> {
  await settle(system)
  const params = { platform: tenant.platformId, environment: tenant.environment }
  const rows = await selectRows<Row>(system.clickhouse, COUNTED, params)
  const [[duplicates = '0'] = []] = await selectRows<[string]>(system.clickhouse, DUPLICATES, params)
  const [[dead = '0'] = []] = await selectRows<[string]>(system.clickhouse, 'SELECT count() FROM usage_dead_letters')
  const faults = compareEvents(rows.map(eventOf), ledger)
  if (dead !== '0') faults.push(`${dead} dead letters`)
  faults.push(...(await compareUsage(system, tenant, rows.map(eventOf), within)))
  return { acked: ledger.acked, counted: rows.length, duplicates: Number(duplicates), faults: shorten(faults) }
}

type Row = [
  reference: string,
  customer: string,
  timestampMs: string,
  values: string[],
  quantities: string[],
  properties: Record<string, string>,
]
const TENANT = 'platform_id = {platform:String} AND environment = {environment:String}'
const COUNTED = `SELECT reference, customer_key, toUnixTimestamp64Milli(timestamp), value_references, value_quantities,
  properties FROM usage_events FINAL WHERE ${TENANT} AND deleted = 0`
const DUPLICATES = `SELECT count() FROM usage_duplicates FINAL WHERE ${TENANT}`

function eventOf([reference, customer, timestampMs, values, quantities, properties]: Row): SentEvent {
  const of = (value: string) => quantities[values.indexOf(value)] ?? 'nothing'
  return {
    reference,
    customer,
    timestampMs: Number(timestampMs),
    quantities: [of(VALUE_REFERENCES[0]), of(VALUE_REFERENCES[1])],
    model: properties[PROPERTY_REFERENCE] ?? '',
  }
}

function compareEvents(counted: readonly SentEvent[], ledger: Ledger): string[] {
  const faults: string[] = []
  const seen = new Set<string>()
  for (const event of counted) {
    const { reference } = event
    const sent = ledger.entries.get(reference)
    if (seen.has(reference)) faults.push(`${reference} is counted twice`)
    else if (!sent) faults.push(`${reference} is counted and was never sent`)
    else if (contentOf(sent.event) !== contentOf(event))
      faults.push(`${reference} was sent as ${contentOf(sent.event)} and is counted as ${contentOf(event)}`)
    seen.add(reference)
  }
  for (const [reference, { id }] of ledger.entries)
    if (id !== null && !seen.has(reference)) faults.push(`${reference} was acknowledged and is not counted`)
  return faults
}

/** The usage query's answers, from roll-ups and from raw rows, against sums made here. */
async function compareUsage(
  system: System,
  tenant: Tenant,
  counted: readonly SentEvent[],
  within: { readonly startMs: number; readonly endMs: number },
): Promise<string[]> {
  const expected = [...new Set(counted.map(event => event.customer))].flatMap(customer => {
    const own = counted.filter(event => event.customer === customer)
    return VALUE_REFERENCES.map((valueReference, place) => {
      const sum = own.reduce((total, event) => total + scaled(event.quantities[place] ?? ''), 0n)
      return { customer, valueReference, sum, count: own.length }
    })
  })
  const faults: string[] = []
  for (const source of ['RAW', 'ROLLED'] as const) {
    const answers = await queryUsages(
      system.clickhouse,
      expected.map(({ customer, valueReference }) => ({
        tenant,
        customerKeys: [customer],
        meterReference: METER_REFERENCE,
        interval: interval(instantOf(within.startMs), instantOf(within.endMs)),
        calculation: { type: 'SUM', valueReference },
        source,
      })),
    )
    for (const [place, { customer, valueReference, sum, count }] of expected.entries()) {
      const answer = answers[place] ?? []
      if (answer instanceof AppError) throw answer
      const [usage] = answer
      const found = usage ? scaled(plain(usage.number)) : 0n
      if (found !== sum || usage?.count !== count)
        faults.push(
          `${customer} ${valueReference} (${source}): ${found} of ${usage?.count} events, not ${sum} of ${count}`,
        )
    }
  }
  return faults
}

const shorten = (faults: readonly string[]): readonly string[] =>
  faults.length <= FAULTS_SHOWN
    ? faults
    : [...faults.slice(0, FAULTS_SHOWN), `and ${faults.length - FAULTS_SHOWN} more`]
