// What is wrong with a year simulated through the API: against the slow model, and by what holds of any books.
import { decimal, plain, sum } from '../../../../../shared/decimal.ts'
import { at } from '../../../../../shared/time.ts'
import type { ApiHarness } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import type { LiveYear } from './live-year.ts'
import { expectedYear } from './slow-model.ts'

const AMOUNTS = ['amount_excluding_tax', 'tax_amount', 'amount_including_tax'] as const
type Sql = ApiHarness['sql']

/** FINAL invoices of the year, in the order in which they became that, each with its lines. */
async function finalInvoices(sql: Sql, { subscriptionId }: LiveYear): Promise<(Row & { lines: Row[] })[]> {
  const invoices = await sql(
    `select id, invoice_number, updated_to_final_at::text as final, ${AMOUNTS.join('::text, ')}::text, wallet_amount::text
     from invoices where pricing_plan_subscription_id = $1 and status = 'FINAL' order by updated_to_final_at, period_start`,
    [subscriptionId],
  )
  const lines = await sql(
    `select l.invoice_id, l.kind, l.pricing_item_config_id as price, l.pricing_plan_schedule_id as phase, l.source,
       (extract(epoch from l.service_start) * 1000)::bigint::text as start, (extract(epoch from l.service_end) * 1000)::bigint::text as end,
       l.amount_excluding_tax::text, l.tax_amount::text, l.amount_including_tax::text
     from invoice_lines l join invoices i on i.platform_id = l.platform_id and i.environment = l.environment and i.id = l.invoice_id
     where i.pricing_plan_subscription_id = $1 and i.status = 'FINAL'`,
    [subscriptionId],
  )
  return invoices.map(invoice => ({ ...invoice, lines: lines.filter(line => line['invoice_id'] === invoice['id']) }))
}

/** What differs, in words; none when all is right. */
export async function faultsOfYear(sql: Sql, year: LiveYear): Promise<string[]> {
  const invoices = await finalInvoices(sql, year)
  return [...billedOtherwise(invoices, year), ...wrongSums(invoices), ...billedTwice(invoices, year)]
}

const cents = (line: Row): number => Number(plain(decimal(line['amount_excluding_tax']).times('100')))
const keyOf = (line: Row, { names }: LiveYear): string => {
  const kind = line['source'].refund_of_invoice_id === undefined ? line['kind'] : 'REFUND'
  return `${kind} ${names.get(line['price'])} ${names.get(line['phase'])} ${line['start']}..${line['end']}`
}

/** Invoice by invoice, those of nothing apart: the same lines with the same cents as the rules have them. */
function billedOtherwise(invoices: readonly (Row & { lines: Row[] })[], year: LiveYear): string[] {
  const is = invoices.flatMap(({ lines }) => {
    const found = new Map<string, number>()
    for (const line of lines) {
      if (cents(line) !== 0) found.set(keyOf(line, year), (found.get(keyOf(line, year)) ?? 0) + cents(line))
    }
    return found.size === 0 ? [] : [listed(found)]
  })
  const should = expectedYear(year.story).flatMap(({ lines }) => (lines.size === 0 ? [] : [listed(lines)]))
  if (is.length !== should.length)
    return [`${is.length} invoices of something, not ${should.length}: ${is.join(' / ')}`]
  return is.flatMap((own, index) => (own === should[index] ? [] : [`invoice ${index}: ${own}, not ${should[index]}`]))
}

const listed = (lines: ReadonlyMap<string, number>): string =>
  [...lines]
    .map(
      ([key, value]) =>
        `${key.replaceAll(/\d{13}/g, time => new Date(Number(time)).toISOString().slice(0, 16))} ${value}`,
    )
    .toSorted()
    .join(', ')

const wrongSums = (invoices: readonly (Row & { lines: Row[] })[]): string[] =>
  invoices.flatMap(invoice =>
    AMOUNTS.flatMap(name => {
      const total = plain(sum(invoice.lines.map(line => decimal(line[name]))))
      return total === plain(decimal(invoice[name]))
        ? []
        : [`${invoice['invoice_number']}: ${name} is ${invoice[name]}, not ${total}`]
    }),
  )

/** A fee is charged once for any moment of a schedule. */
function billedTwice(invoices: readonly (Row & { lines: Row[] })[], year: LiveYear): string[] {
  const fees = new Set(
    year.story.plans.flatMap(({ prices }) => prices.flatMap(({ id, kind }) => (kind === 'FEE' ? [id] : []))),
  )
  const spans = invoices
    .flatMap(({ lines }) => lines)
    .filter(({ kind, source }) => kind === 'REVENUE' && source.refund_of_invoice_id === undefined)
    .filter(({ price }) => fees.has(year.names.get(price) ?? ''))
    .map(line => ({ of: `${line['price']} ${line['phase']}`, start: Number(line['start']), end: Number(line['end']) }))
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
export const endOfYear = (year: Pick<LiveYear, 'story'>): number =>
  Math.max(...expectedYear(year.story).map(({ cutoff }) => cutoff)) + at('1970-01-02T00:00:00Z')
