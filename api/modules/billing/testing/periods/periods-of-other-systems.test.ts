// Periods and their prorated amounts in the forms that the test suites of other billing systems have: Lago (calendar and anniversary),
// Stripe (anchors, intervals, ends), Kill Bill (bill cycle days), Orb, Metronome, OpenMeter and Meteroid, and changes of the clocks by
// half an hour and at midnight. Each case is worked out with a calendar and fractions, apart from the code, by the rules of semantics
// 4.4: days are local, the first counts and the last does not. Where another system counts seconds, the days are what counts here.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exampleInvoices } from '../example-inputs.ts'
import { casesIn, inputsOfTerms, zoneOfTerms } from './case-terms.ts'

const CASES = casesIn(readFileSync(new URL('./periods-of-other-systems.txt', import.meta.url), 'utf8'))

test('there are cases, and each has a title of its own', () => {
  expect(CASES.length).toBeGreaterThan(390)
  expect(new Set(CASES.map(({ title }) => title)).size).toBe(CASES.length)
})

test.each(CASES)('$title', ({ terms, lines }) => {
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: zoneOfTerms(terms), dateStyle: 'short' })
  const of = (time: string): string => day.format(Date.parse(time))
  const found = exampleInvoices(inputsOfTerms(terms), lines.length).flatMap(({ content }) =>
    content.periods.flatMap(({ start_at, end_at, groups }) =>
      groups.flatMap(group =>
        group.lines.map(line => `${of(start_at)}..${of(end_at)} ${line.amount_excluding_tax.quantity}`),
      ),
    ),
  )
  expect(found).toEqual(lines)
})
