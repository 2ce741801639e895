// Periods and their prorated amounts in the forms that the test suites of other billing systems have: Lago (calendar and anniversary),
// Stripe (anchors, intervals, ends), Kill Bill (bill cycle days), Orb, Metronome, OpenMeter and Meteroid, and changes of the clocks by
// half an hour and at midnight. Each case is worked out with a calendar and fractions, apart from the code, by the rules of semantics
// 4.4: days are local, the first counts and the last does not. Where another system counts seconds, the days are what counts here.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import { formatInstant, instantOf } from '../../../../../shared/time.ts'
import { exampleInputs, exampleInvoices, recurring } from '../example-inputs.ts'
import { startOfDay } from '../year/calendar.ts'
import { DAY } from '../year/story.ts'

const CASES = readFileSync(new URL('./periods-of-other-systems.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n\n')
  .map(block => {
    const [title = '', terms = '', ...lines] = block.split('\n')
    return { title: title.slice(2), terms: new Map(terms.split(' ').map(term => pair(term))), lines }
  })

function pair(term: string): [string, string] {
  const [name = '', value = ''] = term.split('=')
  return [name, value]
}

const lengthOf = (text: string): PeriodLength => {
  const [type, value] = text.split('-')
  return { type, value: Number(value) } as PeriodLength
}

test('there are cases, and each has a title of its own', () => {
  expect(CASES.length).toBeGreaterThan(390)
  expect(new Set(CASES.map(({ title }) => title)).size).toBe(CASES.length)
})

test.each(CASES)('$title', ({ terms, lines }) => {
  const zone = terms.get('zone') ?? 'UTC'
  const midnight = (day: string): string =>
    formatInstant(instantOf(startOfDay(Date.parse(`${day}T00:00:00Z`) / DAY, zone)))
  const [end, anchor, priced] = [terms.get('end'), terms.get('anchor'), terms.get('priced')]
  const inputs = exampleInputs({
    start: midnight(terms.get('start') ?? ''),
    ...(end === undefined ? {} : { end: midnight(end) }),
    items: [
      recurring(terms.get('fee') ?? '', {
        billing_in_advance: terms.has('ahead'),
        ...(priced === undefined ? {} : { pricing_period: lengthOf(priced) }),
      }),
    ],
    subscription: {
      billing_period: lengthOf(terms.get('every') ?? ''),
      billing_time: terms.has('calendar') ? 'CALENDAR' : 'EXACT',
      billing_anchor: anchor === undefined ? null : midnight(anchor),
    },
  })
  const zoned = { ...inputs, customer: { ...inputs.customer, timezone: zone } }
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
  const of = (time: string): string => day.format(Date.parse(time))
  const found = exampleInvoices(zoned, lines.length).flatMap(({ content }) =>
    content.periods.flatMap(({ start_at, end_at, groups }) =>
      groups.flatMap(group =>
        group.lines.map(line => `${of(start_at)}..${of(end_at)} ${line.amount_excluding_tax.quantity}`),
      ),
    ),
  )
  expect(found).toEqual(lines)
})
