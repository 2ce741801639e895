// Rollups = raw: the usage query gives the same figures whether it may use roll-ups or not. A difference is narrowed down
// to the hour it lies in.
import { type Answer, queryUsages } from '../../api/usage/query/query-usages.ts'
import type { UsageCalculation } from '../../api/usage/usage-query.ts'
import { plain } from '../../shared/decimal.ts'
import { AppError } from '../../shared/errors.ts'
import type { Environment } from '../../shared/tenant.ts'
import { instantOf, interval } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import type { Findings } from './findings.ts'

export type RollupCounts = {
  /** One customer's usage of one meter. */
  series: number
  queries: number
  /** Queries whose figures moved while they were asked, because events came in. */
  unsettled: number
}
export type RollupOptions = {
  /** Compare about one series in so many; 1: all. */
  readonly oneIn: number
  /** Another number takes another sample. */
  readonly seed: number
}
type Series = {
  readonly platformId: string
  readonly environment: Environment
  readonly customerKey: string
  readonly meterReference: string
  readonly startMs: number
  readonly endMs: number
  readonly events: number
}
type SeriesRow = [
  platform: string,
  environment: Environment,
  customer: string,
  meter: string,
  from: string,
  to: string,
  events: string,
]

const HOUR_MS = 3_600_000
const SERIES_A_PAGE = 500
/** How many series of a tenant one statement compares: a statement costs about the same for one series as for fifty. */
const SERIES_TOGETHER = 50
/** How many events these series have in all: ClickHouse holds each distinct value of a property. A series with more is compared alone. */
const EVENTS_TOGETHER = 1_000_000
/** How many figures one statement compares. A statement over many different properties grows faster than their number. */
const QUESTIONS_TOGETHER = 500
const ATTEMPTS = 5
const KEY = 'platform_id, environment, customer_key, meter_reference'

/** How many series there are; an upper bound, from the marks. */
export async function countSeries(client: ClickHouseClient): Promise<number> {
  const sql = `SELECT uniq(${KEY}) FROM usage_bucket_marks`
  const [[count = '0'] = []] = await selectRows<[string]>(client, sql)
  return Number(count)
}

/** Compares every series of the sample over all of its time. */
export async function compareRollups(
  client: ClickHouseClient,
  options: RollupOptions,
  findings: Findings,
): Promise<RollupCounts> {
  const counts: RollupCounts = { series: 0, queries: 0, unsettled: 0 }
  for await (const group of together(sample(client, options))) {
    counts.series += group.length
    for (const questions of (await questionsOf(client, group)).flatMap(inBatches)) {
      const outcomes = await compare(client, questions)
      counts.queries += questions.length
      counts.unsettled += outcomes.filter(outcome => outcome === 'unsettled').length
      for (const question of questions.filter((_, place) => outcomes[place] === 'different'))
        findings.add('ROLLUP_DIFFERS', shown(await narrow(client, question)))
    }
  }
  return counts
}

// From both tables: a row without a mark and a mark without a row are differences too.
async function* sample(client: ClickHouseClient, { oneIn, seed }: RollupOptions): AsyncGenerator<Series> {
  let after = ['', '', '', '']
  for (;;) {
    const beyond = `(${KEY}) > ({platform:String}, {environment:String}, {customer:String}, {meter:String})`
    const where = `${beyond} AND cityHash64(${KEY}, {seed:UInt32}) % {oneIn:UInt32} = 0`
    const [platform, environment, customer, meter] = after
    const rows = await selectRows<SeriesRow>(
      client,
      `SELECT ${KEY}, toUnixTimestamp(min(first)), toUnixTimestamp(max(last)), toString(sum(events)) FROM (
         SELECT ${KEY}, toStartOfHour(min(timestamp)) AS first, toStartOfHour(max(timestamp)) AS last, count() AS events
         FROM usage_events WHERE ${where} GROUP BY ${KEY} ORDER BY ${KEY} LIMIT {limit:UInt32}
         UNION ALL
         SELECT ${KEY}, min(hour) AS first, max(hour) AS last, 0 AS events
         FROM usage_bucket_marks WHERE ${where} GROUP BY ${KEY} ORDER BY ${KEY} LIMIT {limit:UInt32}
       ) GROUP BY ${KEY} ORDER BY ${KEY} LIMIT {limit:UInt32}`,
      { platform, environment, customer, meter, seed, oneIn, limit: SERIES_A_PAGE },
    )
    for (const row of rows) yield seriesOf(row)
    const last = rows.at(-1)
    if (last === undefined || rows.length < SERIES_A_PAGE) return
    after = last.slice(0, 4)
  }
}

const seriesOf = ([platformId, environment, customerKey, meterReference, from, to, events]: SeriesRow): Series => ({
  platformId,
  environment,
  customerKey,
  meterReference,
  startMs: Number(from) * 1000,
  endMs: Number(to) * 1000 + HOUR_MS,
  events: Number(events),
})

type Group = readonly [Series, ...Series[]]

/** Groups neighbours of one tenant, within SERIES_TOGETHER and EVENTS_TOGETHER. */
async function* together(all: AsyncIterable<Series>): AsyncGenerator<Group> {
  let group: [Series, ...Series[]] | null = null
  let events = 0
  for await (const series of all) {
    events += series.events
    if (
      group !== null &&
      group.length < SERIES_TOGETHER &&
      events <= EVENTS_TOGETHER &&
      isOfOneTenant(group[0], series)
    ) {
      group.push(series)
      continue
    }
    if (group !== null) yield group
    group = [series]
    events = series.events
  }
  if (group !== null) yield group
}

const inBatches = (questions: readonly Question[]): Question[][] =>
  Array.from({ length: Math.ceil(questions.length / QUESTIONS_TOGETHER) }, (_, place) =>
    questions.slice(place * QUESTIONS_TOGETHER, (place + 1) * QUESTIONS_TOGETHER),
  )

const isOfOneTenant = (one: Series, other: Series): boolean =>
  one.platformId === other.platformId && one.environment === other.environment

/** A figure of a series, over all of its time or a part of it. */
type Question = { readonly series: Series; readonly calculation: UsageCalculation }

/**
 * All figures that roll-ups keep of these series, in two lists: the sum, least and greatest of each value, and the distinct values of each
 * property. No statement takes both: one that needs properties reads the roll-ups by property, so the totals would not be compared.
 */
async function questionsOf(client: ClickHouseClient, group: Group): Promise<Question[][]> {
  const where = `platform_id = {platform:String} AND environment = {environment:String}
    AND (customer_key, meter_reference) IN (SELECT arrayJoin(arrayZip({customers:Array(String)}, {meters:Array(String)})))`
  const rows = await selectRows<[customer: string, meter: string, values: string[], properties: string[]]>(
    client,
    `SELECT customer_key, meter_reference, groupUniqArrayArray(value_references), groupUniqArrayArray(mapKeys(properties)) FROM (
       SELECT customer_key, meter_reference, value_references, properties FROM usage_events WHERE ${where}
       UNION ALL
       SELECT customer_key, meter_reference, arrayFlatten(value_references), arrayElement(properties, 1)
       FROM usage_rollups_by_grain WHERE ${where}
     ) GROUP BY customer_key, meter_reference`,
    {
      platform: group[0].platformId,
      environment: group[0].environment,
      customers: group.map(({ customerKey }) => customerKey),
      meters: group.map(({ meterReference }) => meterReference),
    },
  )
  const nameOf = (customer: string, meter: string) => JSON.stringify([customer, meter])
  const kept = new Map(rows.map(([customer, meter, ...names]) => [nameOf(customer, meter), names]))
  const named = group.map(series => {
    const [values = [], properties = []] = kept.get(nameOf(series.customerKey, series.meterReference)) ?? []
    return { series, values: values.filter(value => value !== ''), properties }
  })
  return [
    named.flatMap(({ series, values }) =>
      values.flatMap(valueReference =>
        (['SUM', 'MIN', 'MAX'] as const).map((type): Question => ({ series, calculation: { type, valueReference } })),
      ),
    ),
    named.flatMap(({ series, properties }) =>
      properties.map((reference): Question => {
        // Of whatever type it is: read as text, both sides see the same values.
        return { series, calculation: { type: 'UNIQUE', property: { reference, type: 'STRING' } } }
      }),
    ),
  ]
}

type Outcome = 'same' | 'different' | 'unsettled'

/** The outcome of each. Raw before and after: figures that move between the two say nothing about the roll-ups. */
async function compare(client: ClickHouseClient, questions: readonly Question[]): Promise<Outcome[]> {
  const outcomes = new Map<Question, Outcome>()
  let open = questions
  for (let attempt = 0; attempt < ATTEMPTS && open.length > 0; attempt += 1) {
    const before = await ask(client, open, 'RAW')
    const rolled = await ask(client, open, 'ROLLED')
    const others = open.filter(question => before.get(question) !== rolled.get(question))
    const after = await ask(client, others, 'RAW')
    for (const question of open) if (!others.includes(question)) outcomes.set(question, 'same')
    for (const question of others) if (before.get(question) === after.get(question)) outcomes.set(question, 'different')
    open = others.filter(question => !outcomes.has(question))
  }
  return questions.map(question => outcomes.get(question) ?? 'unsettled')
}

/** The figures of all of them, by one statement. */
async function ask(
  client: ClickHouseClient,
  questions: readonly Question[],
  source: 'RAW' | 'ROLLED',
): Promise<Map<Question, string>> {
  const answers = await queryUsages(
    client,
    questions.map(({ series, calculation }) => ({
      tenant: { platformId: series.platformId, environment: series.environment },
      customerKeys: [series.customerKey],
      meterReference: series.meterReference,
      interval: interval(instantOf(series.startMs), instantOf(series.endMs)),
      calculation,
      source,
    })),
  )
  return new Map(questions.map((question, place) => [question, figures(answers[place] ?? [])]))
}

function figures(answer: Answer): string {
  if (answer instanceof AppError) throw answer
  return JSON.stringify(answer.map(({ currency, number, count }) => [currency, plain(number), count]))
}

/** Parts of a time that are compared by one statement; three rounds of them come from years to an hour. */
const PARTS_MAX = 24

/** The first hour in which the two differ; the whole when they differ only as a whole. */
async function narrow(client: ClickHouseClient, question: Question): Promise<Question> {
  let found = question
  for (;;) {
    const parts = partsOf(found)
    const outcomes = parts.length > 1 ? await compare(client, parts) : []
    const part = parts[outcomes.indexOf('different')]
    if (part === undefined) return found
    found = part
  }
}

/** At most PARTS_MAX parts of whole hours. */
function partsOf({ series, calculation }: Question): Question[] {
  const hours = (series.endMs - series.startMs) / HOUR_MS
  const lengthMs = Math.ceil(hours / PARTS_MAX) * HOUR_MS
  return Array.from({ length: Math.ceil((series.endMs - series.startMs) / lengthMs) }, (_, place) => {
    const startMs = series.startMs + place * lengthMs
    return { series: { ...series, startMs, endMs: Math.min(startMs + lengthMs, series.endMs) }, calculation }
  })
}

function shown({ series, calculation }: Question): string {
  const of = calculation.type === 'UNIQUE' ? calculation.property.reference : calculation.valueReference
  const [from, to] = [new Date(series.startMs).toISOString(), new Date(series.endMs).toISOString()]
  return `${series.platformId} ${series.environment}, customer ${JSON.stringify(series.customerKey)}, meter ${JSON.stringify(series.meterReference)}, ${calculation.type} of ${JSON.stringify(of)}, ${from} to ${to}`
}
