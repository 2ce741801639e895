// What is wrong with the usage of simulated years: how much of it each line bills, against the slow model, and that all of it is
// billed once or will be.
import { decimal, plain } from '../../../../../../shared/decimal.ts'
import { succeed } from '../../../../../testing/calls.ts'
import type { TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { closingsOf } from '../closings.ts'
import { knownAt } from '../known.ts'
import { versionTime } from '../slow-model/cards.ts'
import { expectedYear } from '../slow-model/model.ts'
import { countOf, type Story, type Usage } from '../story.ts'
import { endOfYears } from './live-faults.ts'
import type { LiveYear } from './live-year.ts'
import type { EventOf } from './usage-by-events.ts'

/** A line of usage; `key`: `price phase start..end`. */
type Line = { readonly id: string; readonly key: string; readonly quantity: number }
/** By key: what each invoice bills of it, in the order in which they closed. */
type Billed = ReadonlyMap<string, readonly number[]>
type Of = { readonly story: Story; readonly until: number }

/** What differs, in words; none when all is right. The clock of the customer stands at the end of the years. */
export async function usageFaults(
  tenant: TestTenant,
  years: readonly LiveYear[],
  events: ReadonlyMap<Story, readonly EventOf[]>,
): Promise<string[]> {
  const customer = years[0]?.customerId
  for (const { id, status } of await invoicesOf(tenant, customer))
    if (status === 'OPEN') await succeed(tenant, 'POST', `/v1/invoices/${id}/refresh`, { types: ['FULL'] })
  // What several subscriptions are billed in one invoice is on that.
  const invoices = (await invoicesOf(tenant, customer)).filter(row => row['combined_into_invoice_id'] === undefined)
  const until = endOfYears(years.map(({ story }) => story))
  const faults = invoices.flatMap(({ id, status }) => (status === 'DRAFT' ? [`${id} is DRAFT`] : []))
  for (const year of years) {
    const closed = linesOf(
      invoices.filter(({ status }) => status === 'FINAL' || status === 'ARCHIVED'),
      year,
    )
    const open = linesOf(
      invoices.filter(({ status }) => status === 'OPEN'),
      year,
    )
    const of = { story: year.story, until }
    faults.push(...billedOtherwise(byKey(closed), of), ...notOnce({ billed: byKey(closed), open: byKey(open) }, of))
    const lines = [...closed, ...open]
    const sent = events.get(year.story) ?? []
    // Otherwise what events bill does not sum to their line.
    if ((year.story.counts ?? 'SUM') === 'SUM') faults.push(...(await tracedOtherwise(tenant, { sent, lines, until })))
  }
  return faults
}

async function invoicesOf(tenant: TestTenant, customer: string | undefined): Promise<Row[]> {
  const all: Row[] = []
  for (let page = 1; ; page += 1) {
    const url = `/v1/invoices?customer_id=${customer}&include_lines=true&order_direction=asc&limit=100&page=${page}`
    const { data } = (await succeed(tenant, 'GET', url)) as { data: Row[] }
    all.push(...data)
    if (data.length < 100) break
  }
  // Those made by hand bill no usage.
  const ofSubscriptions = all.filter(({ type }) => type === 'STANDARD')
  return ofSubscriptions.toSorted((a, b) => Date.parse(a['period_end']) - Date.parse(b['period_end']))
}

function linesOf(invoices: readonly Row[], { names }: LiveYear): Line[] {
  const found: Line[] = []
  for (const period of invoices.flatMap(invoice => invoice['periods'] as Row[])) {
    for (const group of period['groups'] as Row[]) {
      const phase = names.get(group['pricing_plan_schedule_id'])
      for (const line of group['lines'] as Row[]) {
        const price = names.get(line['pricing_item_config_id'])
        const isUsage = line['product_items'].some((item: Row) => item['model_type'] === 'USAGE_BASED')
        if (line['type'] !== 'REVENUE' || !isUsage || !phase || !price) continue
        const key = `${price} ${phase} ${Date.parse(period['start_at'])}..${Date.parse(period['end_at'])}`
        const quantity = Number(plain(decimal(line['meter_value'].number)))
        if (quantity !== 0) found.push({ id: line['id'], key, quantity })
      }
    }
  }
  return found
}

function byKey(lines: readonly Pick<Line, 'key' | 'quantity'>[]): Billed {
  const billed = new Map<string, number[]>()
  for (const { key, quantity } of lines) billed.set(key, [...(billed.get(key) ?? []), quantity])
  return billed
}

const readable = (key: string): string =>
  key.replaceAll(/\d{13}/g, time => new Date(Number(time)).toISOString().slice(0, 16))

/** Line by line, the quantities that the rules say. */
function billedOtherwise(is: Billed, { story, until }: Of): string[] {
  const expected = expectedYear(story).filter(({ issued }) => issued <= until)
  const should = byKey(
    expected.flatMap(({ quantities }) =>
      [...quantities].map(([line, quantity]) => ({ key: line.slice('USAGE '.length), quantity })),
    ),
  )
  return [...new Set([...is.keys(), ...should.keys()])].flatMap(key => {
    const [found, wanted] = [is.get(key) ?? [], should.get(key) ?? []]
    return found.join() === wanted.join() ? [] : [`${readable(key)} bills ${found.join()} units, not ${wanted.join()}`]
  })
}

const sum = (numbers: readonly number[] | undefined): number => (numbers ?? []).reduce((total, each) => total + each, 0)
const standing = ({ versions }: Usage, moment: number): number | null =>
  versions.findLast(({ arrives }) => arrives <= moment)?.quantity ?? null
const standsAt = (usage: Usage, moment: number): number => standing(usage, moment) ?? 0

/**
 * By the story alone: what stands in the end is billed, or is on the invoice that collects. Only what was billed before it fell is more
 * than that, and what comes after the last invoice of a subscription is on none.
 */
function notOnce({ billed, open }: { readonly billed: Billed; readonly open: Billed }, { story, until }: Of): string[] {
  const known = knownAt(story, until)
  const ends = Math.min(known.cancel?.at ?? until, until)
  const last = Math.min(ends + (story.grace ?? 0), until)
  const lines = [...new Set([...billed.keys(), ...open.keys()])].map(key => ({ key, ...timeOf(key) }))
  const wrong = lines.flatMap(({ key, start, end }) => {
    const own = story.usage.filter(({ time }) => start <= time && time < end)
    const stands = countOf(
      story,
      own.flatMap(usage => standing(usage, last) ?? []),
    )
    const [was, will] = [sum(billed.get(key)), sum(open.get(key))]
    const mayFall = ({ versions }: Usage): boolean =>
      versions.length > 1 || versions.some(each => (each.quantity ?? 0) < 0)
    const hasFallen = will === 0 && was > stands && own.some(mayFall)
    if (was + will === stands || hasFallen) return []
    return [`${readable(key)}: ${was} units are billed and ${will} will be, and ${stands} were used`]
  })
  const closings = closingsOf(story)
  /** What is used and given back of a period may come to nothing, which needs no line. */
  const comesToSomething = ({ time }: Usage, own: readonly Usage[]): boolean => {
    const period = closings.find(({ from, cutoff }) => from !== null && from <= time && time < cutoff)
    const together = own.filter(each => !period || ((period.from ?? 0) <= each.time && each.time < period.cutoff))
    return (
      countOf(
        story,
        together.flatMap(each => standing(each, last) ?? []),
      ) > 0
    )
  }
  const lost = known.phases
    .filter(({ trial }) => !trial)
    .flatMap(phase => {
      const { id, plan, start, end, enabled } = phase
      const isEnabled = ({ time }: Usage): boolean =>
        enabled.some(each => each.start <= time && (each.end === null || time < each.end))
      const own = story.usage.filter(({ time }) => start <= time && time < Math.min(end ?? ends, ends))
      return plan.prices
        .filter(({ kind }) => kind === 'USAGE')
        .flatMap(price => {
          const of = lines.filter(({ key }) => key.startsWith(`${price.id} ${id} `))
          const version = versionTime(phase, price, story)
          const isInForce = ({ time }: Usage): boolean =>
            version !== null && version.start <= time && (version.end === null || time < version.end)
          return own
            .filter(usage => isInForce(usage) && (!price.addon || isEnabled(usage)))
            .filter(
              usage =>
                standsAt(usage, last) > 0 &&
                comesToSomething(usage, own) &&
                !of.some(line => line.start <= usage.time && usage.time < line.end),
            )
            .map(({ time }) => `usage of ${new Date(time).toISOString()} is on no line of ${price.id} ${id}`)
        })
    })
  return [...wrong, ...lost]
}

function timeOf(key: string): { readonly start: number; readonly end: number } {
  const [start = 0, end = 0] = (key.split(' ')[2] ?? '').split('..').map(Number)
  return { start, end }
}

/** The trace of each event names the line that bills it: of time in which nothing changed, events sum to their line. */
async function tracedOtherwise(
  tenant: TestTenant,
  of: { readonly sent: readonly EventOf[]; readonly lines: readonly Line[]; readonly until: number },
): Promise<string[]> {
  const { sent, lines, until } = of
  const traced = new Map<string, number>()
  for (const { usage, reference } of sent) {
    const quantity = standsAt(usage, until)
    if (quantity === 0) continue
    const { links } = await succeed(tenant, 'GET', `/v1/events/${reference}/event_trace`)
    for (const { invoice_line_id: line } of links) traced.set(line, (traced.get(line) ?? 0) + quantity)
  }
  const isSteady = ({ key }: Line): boolean => {
    const { start, end } = timeOf(key)
    return !sent.some(({ usage: { time, versions } }) => start <= time && time < end && versions.length > 1)
  }
  return lines.filter(isSteady).flatMap(({ id, key, quantity }) => {
    const own = traced.get(id) ?? 0
    return own === quantity ? [] : [`${readable(key)} bills ${quantity} units on ${id}, and events name it for ${own}`]
  })
}
