// Which billing period a moment is in, and what is charged ahead by a day, with the dates of the test suites of Lago, Flexprice, OpenMeter,
// Meteroid and Kill Bill. Each answer was worked out apart from the code, with a calendar and fractions, by the rules of semantics 4.4 and
// 0.3. Most are those of the suites as well. A title says what theirs is where it differs: Flexprice begins two months or weeks at the
// start of each, where ours count from January 2000, and gives a whole year to a start before the anchor, where ours ends at the anchor.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { BillingPeriod } from '../../../../../shared/billing/periods.ts'
import { at, formatInstant, type Instant, instantOf } from '../../../../../shared/time.ts'
import { invoiceWindows, wholePeriodAt } from '../../terms/windows.ts'
import { exampleInvoice, linesOf } from '../example-inputs.ts'
import { casesIn, inputsOfTerms, momentOf, type Terms, termsIn, zoneOfTerms } from './case-terms.ts'

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8').trim()

/** `title | terms | period`: the period is in UTC, with the days that are covered of those that a whole one has. */
const MOMENTS = read('./moments-of-other-systems.txt')
  .split('\n')
  .map(line => {
    const [title = '', terms = '', period = ''] = line.split(' | ')
    return { title, terms: termsIn(terms), period }
  })

const textOf = (instant: Instant): string =>
  formatInstant(instant)
    .replace('T00:00:00Z', '')
    .replace(/(T\d\d:\d\d):00Z$/, '$1Z')

const shown = ({ covered, coveredDays, fullDays }: BillingPeriod): string =>
  `${textOf(covered.start)}..${textOf(covered.end)} ${coveredDays}/${fullDays}`

/** The period that a moment is in, or with `before` the one before it. */
function periodOf(terms: Terms): BillingPeriod | null {
  const inputs = inputsOfTerms(terms)
  const moment = (text: string): Instant => at(momentOf(text, zoneOfTerms(terms)))
  const before = terms.get('before')
  if (before === undefined) return wholePeriodAt(inputs, moment(terms.get('at') ?? ''))
  const after = wholePeriodAt(inputs, moment(before))
  return after && wholePeriodAt(inputs, instantOf(after.full.start - 1))
}

test('there are moments, and each has a title of its own', () => {
  expect(MOMENTS.length).toBeGreaterThan(210)
  expect(new Set(MOMENTS.map(({ title }) => title)).size).toBe(MOMENTS.length)
})

test.each(MOMENTS)('$title', ({ terms, period }) => {
  const found = periodOf(terms)
  expect(found && shown(found)).toBe(period)
})

/** A block: title, terms with the day `by` which invoices are made, and the lines that they have then. */
const BILLED = casesIn(read('./billed-by-a-day.txt'))

test('there are days, and each has a title of its own', () => {
  expect(BILLED.length).toBeGreaterThan(150)
  expect(new Set(BILLED.map(({ title }) => title)).size).toBe(BILLED.length)
})

test.each(BILLED)('Kill Bill in advance, $title', ({ terms, lines }) => {
  const inputs = inputsOfTerms(new Map([...terms, ['ahead', '']]))
  const by = at(momentOf(terms.get('by') ?? '', 'UTC'))
  const billed = new Set<string>()
  const found: string[] = []
  for (const window of invoiceWindows(inputs)) {
    if (by < window.cutoffAt) break
    const invoice = exampleInvoice(inputs, window, { usage: '0', billed })
    for (const key of invoice.advanceCharges) billed.add(key)
    found.push(...linesOf(invoice))
  }
  expect(found).toEqual(lines)
})
