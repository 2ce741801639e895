// Terms of a subscription on one line: `start=2026-01-31 every=MONTH-1 calendar zone=Europe/Berlin fee=100 ahead`.
import type { PeriodLength } from '../../../../../shared/billing/periods.ts'
import { formatInstant, instantOf } from '../../../../../shared/time.ts'
import type { BillingInputs } from '../../terms/billing-inputs.ts'
import { exampleInputs, recurring } from '../example-inputs.ts'
import { startOfDay } from '../year/calendar.ts'
import { DAY } from '../year/story.ts'

export type Terms = ReadonlyMap<string, string>

export const termsIn = (line: string): Terms =>
  new Map(line.split(' ').map((term): [string, string] => [term.split('=')[0] ?? '', term.split('=')[1] ?? '']))

/** Cases in blocks: a title after `# `, a line of terms, and the lines that are expected. */
export const casesIn = (text: string) =>
  text
    .trim()
    .split('\n\n')
    .map(block => {
      const [title = '', terms = '', ...lines] = block.split('\n')
      return { title: title.slice(2), terms: termsIn(terms), lines }
    })

const lengthOf = (text: string): PeriodLength => {
  const [type, value] = text.split('-')
  return { type, value: Number(value) } as PeriodLength
}

export const zoneOfTerms = (terms: Terms): string => terms.get('zone') ?? 'UTC'

/** A local day is its first moment; a time is one of UTC. */
export const momentOf = (text: string, zone: string): string =>
  text.includes('T') ? text : formatInstant(instantOf(startOfDay(Date.parse(`${text}T00:00:00Z`) / DAY, zone)))

/** What billing knows of a subscription with one recurring fee. */
export function inputsOfTerms(terms: Terms): BillingInputs {
  const zone = zoneOfTerms(terms)
  const moment = (name: string): string | null => {
    const text = terms.get(name)
    return text === undefined ? null : momentOf(text, zone)
  }
  const [end, priced] = [moment('end'), terms.get('priced')]
  const inputs = exampleInputs({
    start: moment('start') ?? '',
    ...(end === null ? {} : { end }),
    items: [
      recurring(terms.get('fee') ?? '1', {
        billing_in_advance: terms.has('ahead'),
        ...(priced === undefined ? {} : { pricing_period: lengthOf(priced) }),
      }),
    ],
    subscription: {
      billing_period: lengthOf(terms.get('every') ?? ''),
      billing_time: terms.has('calendar') ? 'CALENDAR' : 'EXACT',
      billing_anchor: moment('anchor'),
    },
  })
  return { ...inputs, customer: { ...inputs.customer, timezone: zone } }
}
