// What is wrong with a year simulated through the API: against the slow model, and by what holds of any books.
import { decimal, plain, sum } from '../../../../../../shared/decimal.ts'
import type { ApiHarness } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { scheduleOfClause } from '../../../rating/clauses-of.ts'
import { expectedYear } from '../slow-model/model.ts'
import { DAY, type Story, YEAR_DAYS } from '../story.ts'
import { clauseNamed, couponNamed } from '../year-lines.ts'
import type { LiveYear } from './live-year.ts'

const AMOUNTS = ['amount_excluding_tax', 'tax_amount', 'amount_including_tax'] as const
type Sql = ApiHarness['sql']

type Invoice = Row & { readonly lines: Row[] }
type Years = readonly LiveYear[]
const subscriptionsOf = (years: Years): string[] => years.map(({ subscriptionId }) => subscriptionId)

/** Those that are of one of the subscriptions, or that were made from invoices of them. */
const OF_THEM = `(i.pricing_plan_subscription_id = any($1) or i.id in (
  select p.combined_into_id from invoices p where p.pricing_plan_subscription_id = any($1)))`

/** FINAL invoices of the year without credit notes, in the order in which they became that, each with its lines. */
async function finalInvoices(sql: Sql, years: Years): Promise<Invoice[]> {
  const ids = subscriptionsOf(years)
  const invoices = await sql(
    `select id, invoice_number, updated_to_final_at::text as final, ${AMOUNTS.join('::text, ')}::text, wallet_amount::text
     from invoices i where ${OF_THEM} and status = 'FINAL' and type <> 'CREDIT' order by updated_to_final_at, period_start`,
    [ids],
  )
  const lines = await sql(
    `select l.invoice_id, l.kind, l.pricing_item_config_id as price, l.pricing_plan_schedule_id as phase, l.source,
       (extract(epoch from l.service_start) * 1000)::bigint::text as start, (extract(epoch from l.service_end) * 1000)::bigint::text as end,
       l.amount_excluding_tax::text, l.tax_amount::text, l.amount_including_tax::text
     from invoice_lines l join invoices i on i.platform_id = l.platform_id and i.environment = l.environment and i.id = l.invoice_id
     where ${OF_THEM} and i.status = 'FINAL' and i.type <> 'CREDIT'`,
    [ids],
  )
  return invoices.map(invoice => ({ ...invoice, lines: lines.filter(line => line['invoice_id'] === invoice['id']) }))
}

/** What differs in the years of the subscriptions of one customer, in words; none when all is right. */
export async function faultsOfYears(sql: Sql, years: Years): Promise<string[]> {
  const invoices = await finalInvoices(sql, years)
  const faults = [...billedOtherwise(invoices, years), ...wrongSums(invoices), ...billedTwice(invoices, years)]
  return [...faults, ...(await wronglyCombined(sql, years))]
}

const cents = (line: Row): number => Number(plain(decimal(line['amount_excluding_tax']).times('100')))
const nameIn = (years: Years, id: string): string | undefined =>
  years.map(({ names }) => names.get(id)).find(name => name !== undefined)

function keyOf(line: Row, years: Years): string {
  const phase = nameIn(years, line['phase'])
  const coupon = couponNamed(line['source'])
  if (coupon !== null) return `COUPON ${nameIn(years, coupon)} - 0..0`
  const clause = clauseNamed(line['source'])
  if (clause !== null) {
    const isWide = clause.startsWith('commitment.') || clause.startsWith('discount.totals.')
    const time = isWide ? '0..0' : `${line['start']}..${line['end']}`
    return `${line['kind']} ${clause} ${nameIn(years, scheduleOfClause(line['source'].clause))} ${time}`
  }
  const kind = line['source'].refund_of_invoice_id === undefined ? line['kind'] : 'REFUND'
  return `${kind} ${nameIn(years, line['price'])} ${phase} ${line['start']}..${line['end']}`
}

/** Invoice by invoice, those of nothing apart: the same lines with the same cents as the rules have them. */
function billedOtherwise(invoices: readonly Invoice[], years: Years): string[] {
  const is = invoices.flatMap(({ lines }) => {
    const found = new Map<string, number>()
    for (const line of lines) {
      const key = keyOf(line, years)
      if (cents(line) !== 0) found.set(key, (found.get(key) ?? 0) + cents(line))
    }
    return found.size === 0 ? [] : [found]
  })
  const should = documentsOf(years.map(({ story }) => story)).filter(({ size }) => size > 0)
  // Those that became FINAL at one moment have no order.
  const more = [...is]
  const missing = should
    .toSorted((a, b) => open(a) - open(b))
    .filter(lines => {
      const place = more.findIndex(found => agree(lines, found))
      if (place >= 0) more.splice(place, 1)
      return place < 0
    })
  return [...missing.map(own => `no invoice of ${listed(own)}`), ...more.map(own => `an invoice of ${listed(own)}`)]
}

/** How many lines the rules leave open. */
const open = (lines: ReadonlyMap<string, number>): number => [...lines.values()].filter(Number.isNaN).length

/** Whether they are the same, as far as the rules say. */
const agree = (should: ReadonlyMap<string, number>, is: ReadonlyMap<string, number>): boolean =>
  [...new Set([...should.keys(), ...is.keys()])].every(key => {
    const wanted = should.get(key) ?? 0
    return Number.isNaN(wanted) || wanted === (is.get(key) ?? 0)
  })

/** By the rules, the lines of each invoice: what several subscriptions are charged in one is charged when their periods end together. */
function documentsOf(stories: readonly Story[]): ReadonlyMap<string, number>[] {
  const documents = new Map<string, Map<string, number>>()
  const until = endOfYears(stories)
  for (const { cutoff, issued, isFirst, gives, onlyAheadUntil, lines } of stories.flatMap(expectedYear)) {
    if (issued > until) continue
    const key = `${cutoff} ${issued} ${isFirst} ${gives} ${onlyAheadUntil}`
    const document = documents.get(key) ?? new Map<string, number>()
    documents.set(key, document)
    // What is of the whole of several subscriptions has one name.
    for (const [line, value] of lines) document.set(line, (document.get(line) ?? 0) + value)
  }
  return [...documents.values()]
}

/**
 * What is issued in one invoice is ARCHIVED and sums to it, but for tax, which is rounded once; and nothing else of several subscriptions
 * is there.
 */
async function wronglyCombined(sql: Sql, years: Years): Promise<string[]> {
  const rows = await sql(
    `select i.id, i.status, i.combined_into_id, i.amount_excluding_tax::text,
       (select sum(p.amount_excluding_tax)::text from invoices p where p.combined_into_id = i.id) as parts
     from invoices i where ${OF_THEM}`,
    [subscriptionsOf(years)],
  )
  return rows.flatMap(({ id, status, combined_into_id, amount_excluding_tax: amount, parts }) => {
    const isPart = combined_into_id !== null
    // An invoice of nothing is ARCHIVED, too.
    const isOfNothing = !isPart && decimal(amount).eq('0')
    if (isPart !== (status === 'ARCHIVED') && !isOfNothing)
      return [`${id} of ${amount} is ${status}, combined into ${combined_into_id}`]
    if (parts === null || decimal(parts).eq(amount)) return []
    return [`${id} has ${amount}, and what it was made from ${parts}`]
  })
}

const listed = (lines: ReadonlyMap<string, number>): string =>
  [...lines]
    .map(
      ([key, value]) =>
        `${key.replaceAll(/\d{13}/g, time => new Date(Number(time)).toISOString().slice(0, 16))} ${value}`,
    )
    .toSorted()
    .join(', ')

const wrongSums = (invoices: readonly Invoice[]): string[] =>
  invoices.flatMap(invoice =>
    AMOUNTS.flatMap(name => {
      const total = plain(sum(invoice.lines.map(line => decimal(line[name]))))
      return total === plain(decimal(invoice[name]))
        ? []
        : [`${invoice['invoice_number']}: ${name} is ${invoice[name]}, not ${total}`]
    }),
  )

/** The time of a line without the pauses that it left out: that of a pause which ended early may be charged later. */
function chargedTimes({ start, end, source }: Row): { start: number; end: number }[] {
  const paused: [number, number][] = source.paused ?? []
  const edges = [Number(start), ...paused.flat(), Number(end)]
  return edges.flatMap((from, index) => (index % 2 === 0 ? [{ start: from, end: edges[index + 1] ?? from }] : []))
}

/** A fee is charged once for any moment of a schedule. */
function billedTwice(invoices: readonly Invoice[], years: Years): string[] {
  const prices = years.flatMap(({ story }) => story.plans.flatMap(plan => plan.prices))
  const fees = new Set(prices.flatMap(({ id, kind }) => (kind === 'FEE' ? [id] : [])))
  const spans = invoices
    .flatMap(({ lines }) => lines)
    .filter(({ kind, source }) => kind === 'REVENUE' && source.refund_of_invoice_id === undefined)
    .filter(({ price }) => fees.has(nameIn(years, price) ?? ''))
    .flatMap(line => chargedTimes(line).map(time => ({ of: `${line['price']} ${line['phase']}`, ...time })))
    .toSorted((a, b) => (a.of === b.of ? a.start - b.start : a.of < b.of ? -1 : 1))
  return spans.flatMap((span, index) => {
    const before = spans[index - 1]
    return before && before.of === span.of && before.end > span.start
      ? [`${span.of} is charged twice for ${span.start}`]
      : []
  })
}

/** Of all documents of the tenant: numbers with gaps, and invoices that became FINAL before a lower number did. */
export async function numberFaults(sql: Sql, platformId: string): Promise<string[]> {
  const rows = await sql(
    `select invoice_number as number, updated_to_final_at::text as final from invoices
     where platform_id = $1 and environment = 'TEST' and invoice_number is not null`,
    [platformId],
  )
  const series = new Map<string, number[]>()
  for (const { number } of rows) {
    const [, name = '', place = ''] = /^(.*?)(\d+)$/.exec(number) ?? []
    series.set(name, [...(series.get(name) ?? []), Number(place)])
  }
  return [...series].flatMap(([name, places]) => {
    const sorted = places.toSorted((a, b) => a - b)
    const first = sorted[0] ?? 0
    return sorted.every((place, index) => place === first + index) ? [] : [`numbers of ${name}: ${sorted.join(' ')}`]
  })
}

/** Of the wallets of the tenant: accounts that do not sum to zero, and what was spent that no invoice names. */
export async function ledgerFaults(sql: Sql, platformId: string): Promise<string[]> {
  const grants = await sql(
    `select grant_id, (funding + open + reserved + spent + expired + reverted)::text as rest, spent::text
     from wallet_grant_accounts where platform_id = $1`,
    [platformId],
  )
  const [paid] = await sql(
    `select coalesce(sum(wallet_amount), 0)::text as amount from invoices where platform_id = $1 and status = 'FINAL'`,
    [platformId],
  )
  const spent = plain(sum(grants.map(grant => decimal(grant['spent']))))
  const invoiced = plain(decimal(paid?.['amount'] ?? '0'))
  return [
    ...grants.flatMap(({ grant_id, rest }) => (decimal(rest).eq('0') ? [] : [`${grant_id} has ${rest} too much`])),
    ...(spent === invoiced ? [] : [`wallets spent ${spent}, invoices say ${invoiced}`]),
  ]
}

/** When the last invoice that is compared has closed, with a day for it to become FINAL. */
export function endOfYears(stories: readonly Story[]): number {
  const compared = Math.min(...stories.map(({ start }) => start + YEAR_DAYS * DAY))
  const moments = stories.flatMap(expectedYear).map(({ issued }) => issued)
  return Math.max(...moments.filter(issued => issued <= compared)) + DAY
}
