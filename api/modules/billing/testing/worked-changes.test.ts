// What changes of a subscription cost, worked out apart from the code with a calendar and fractions (semantics 4): plan changes with and
// without credit, cancellations, pauses, seats and trials, over month ends, leap years and changes of the clocks.
// Each case gives the prices sold, the changes with their local dates, and the expected invoice lines with theirs.
// Days are local: the first counts, the last does not. Lago, Kill Bill and Orb count days too; Stripe counts seconds, so there a month
// in which the clocks change differs by cents.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { billYear } from './year/bill-year.ts'
import { type Length, startOfDay } from './year/calendar.ts'
import { differencesIn } from './year/compare.ts'
import { type Action, DAY, type Price, type Story } from './year/story.ts'
import { linesOfYear } from './year/year-lines.ts'

const YEAR: Length = { type: 'YEAR', value: 1 }
const BILLING: Readonly<Record<string, Length>> = {
  yearly: YEAR,
  quarterly: { type: 'MONTH', value: 3 },
  weekly: { type: 'WEEK', value: 1 },
}
const PRICES: Readonly<Record<string, Partial<Price>>> = {
  ahead: { inAdvance: true },
  arrears: {},
  'ahead-priced-yearly': { inAdvance: true, pricing: YEAR },
  'ahead-billed-yearly': { inAdvance: true, billing: YEAR },
  seats: { kind: 'SEATS' },
  'seats-ahead': { kind: 'SEATS', inAdvance: true },
  once: { kind: 'ONCE', inAdvance: true },
  usage: { kind: 'USAGE' },
}
const PRICE: Omit<Price, 'id' | 'amount'> = {
  kind: 'FEE',
  inAdvance: false,
  above: null,
  billing: null,
  pricing: null,
  minimum: null,
  discount: null,
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8').trim()
/**
 * The second file has the forms of the test suites of Stripe, Lago and Kill Bill. The third asks which rule holds, where an amount alone
 * would not tell: hours of a day, two changes on one day, days of 23 to 25 hours or without a midnight, trials. Each case names its rule.
 * The fourth has the very dates of the suites of Lago, Kill Bill, Flexprice and Meteroid. Lago counts the day of a termination; ours does not.
 */
const CASES = [
  read('./worked-changes.txt'),
  read('./changes-of-other-systems.txt'),
  read('./ruled-changes.txt'),
  read('./changes-by-suites.txt'),
]
  .flatMap(text => text.split('\n\n'))
  .map(block => {
    const [title = '', ...below] = block.split('\n')
    const rule = below[0]?.startsWith('# ') ? below[0].slice(2) : null
    const [terms = '', ...rest] = rule === null ? below : below.slice(1)
    return {
      title: title.slice(2),
      rule,
      terms: new Map(
        terms.split(' ').map((term): [string, string] => [term.split('=')[0] ?? '', term.split('=')[1] ?? '']),
      ),
      events: rest.filter(line => !line.startsWith('= ')).map(line => line.split(' ')),
      lines: rest.filter(line => line.startsWith('= ')).map(line => line.slice(2)),
    }
  })

test('there are cases, and each has a title of its own', () => {
  expect(CASES.length).toBeGreaterThan(515)
  expect(new Set(CASES.map(({ title }) => title)).size).toBe(CASES.length)
})

test.each(CASES)('$title', ({ rule, terms, events, lines }) => {
  const termOf = (name: string): string => terms.get(name) ?? expect.unreachable(`a case says ${name}`)
  const zone = terms.get('zone') ?? 'UTC'
  const moment = (text = ''): number => momentOf(text, zone)
  const price = { ...PRICE, ...(PRICES[termOf('price')] ?? expect.unreachable('a known price')) }
  const fees = termOf('fees').split(',')
  const [after, until] = termOf('listed').split('..').map(moment) as [number, number]
  const used = events.filter(([, what]) => what === 'uses')
  const story: Story = {
    seed: 0,
    zone,
    start: moment(termOf('start')),
    billing: BILLING[terms.get('billing') ?? ''] ?? { type: 'MONTH', value: 1 },
    calendar: !terms.has('exact'),
    trial: terms.has('trial'),
    terms: null,
    template: null,
    plans: fees.map((id, place) => ({ id: `plan${place}`, prices: [{ ...price, id, amount: Number(id) * 10_000 }] })),
    deals: [],
    actions: actionsOf(events, moment),
    usage: used.map(([on, , quantity]) => ({
      time: moment(on),
      versions: [{ arrives: moment(on), quantity: Number(quantity) }],
    })),
  }
  const invoices = billYear(story, { until })
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
  const found = invoices
    .filter(({ window }) => after <= window.cutoffAt)
    .flatMap(invoice =>
      linesOfYear(invoice).map(line => {
        const what = line.kind === 'REFUND' ? 'credit' : `fee ${line.price}`
        const service = `${day.format(line.start)}..${day.format(line.end)}`
        return `${day.format(invoice.window.cutoffAt)}: ${what} ${service} ${(line.cents / 100).toFixed(2)}`
      }),
    )
  // Which lines there are is what a rule says, not in which order.
  if (rule === null) expect(found).toEqual(lines)
  else expect([...found.toSorted(), ...differencesIn(story)], rule).toEqual(lines.toSorted())
})

/** The first moment of a local day, or a local time of it. */
function momentOf(text: string, zone: string): number {
  const [day = '', time] = text.split('T')
  if (time === undefined || time === '00:00') return startOfDay(Date.parse(`${day}T00:00:00Z`) / DAY, zone)
  const local = Date.parse(`${day}T${time}Z`)
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  const offset = (moment: number): number => Date.parse(`${format.format(moment).replace(' ', 'T')}Z`) - moment
  const near = local - offset(local)
  return local - offset(near)
}

/** `on` a day, or a local time: `change with credit`, `cancel DAY with credit`, `undo`, `pause DAY..DAY`, `seats NUMBER until DAY`. */
function actionsOf(events: readonly (readonly string[])[], moment: (day?: string) => number): Action[] {
  let plan = 0
  return events.flatMap(([on, what, value = '', ...more]): Action[] => {
    const at = moment(on)
    if (what === 'cancel') return [{ at, type: 'CANCEL', when: moment(value), refund: more.includes('credit') }]
    if (what === 'undo') return [{ at, type: 'UNDO' }]
    if (what === 'pause') {
      const [start, end] = value.split('..')
      return [{ at, type: 'PAUSE', start: moment(start), end: moment(end) }]
    }
    if (what === 'seats') {
      const seat = { start: at, end: more[1] === undefined ? null : moment(more[1]) }
      return Array.from({ length: Number(value) }, () => ({ at, type: 'SEAT', seat }))
    }
    if (what !== 'change') return []
    plan += 1
    return [{ at, type: 'PLAN', plan, refund: value === 'with', realign: false }]
  })
}
