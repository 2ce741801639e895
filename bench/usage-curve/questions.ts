// What billing asks of a month, in the forms that cost most.
import type { UsageQuery } from '../../api/usage/usage-query.ts'
import { bucketsOf } from '../../shared/billing/buckets.ts'
import { zoneOf } from '../../shared/billing/local-days.ts'
import { type Interval, instantOf, interval } from '../../shared/time.ts'
import { METER, MONTH, TENANT, VALUE } from './fill.ts'

const model = { reference: 'model', type: 'ENUM' as const }
const region = { reference: 'region', type: 'STRING' as const }
const tier = { reference: 'tier', type: 'NUMBER' as const }
const HALF_HOUR_MS = 1_800_000

/** As a month of a zone of half an hour: both ends lie within an hour. */
const inZone = ({ start, end }: Interval): Interval =>
  interval(instantOf(start + HALF_HOUR_MS), instantOf(end - HALF_HOUR_MS))

/** As a chart of the month shows it (GET /v1/usage), in a zone whose days begin within the days of UTC. */
function byTheDay(sum: UsageQuery): UsageQuery[] {
  const zone = zoneOf('Europe/Amsterdam')
  const days = zone && bucketsOf(sum.interval, { bucket: 'DAY', zone, max: 40 })
  if (!days) throw new Error('a month has no more than 40 days')
  return days.map(day => ({ ...sum, interval: day }))
}

const listed = Array.from({ length: 10_000 }, (_, i) => `model-${i * 3}`)

/** By name: what is asked at once. */
export function questionsOf(customer: string): Readonly<Record<string, readonly UsageQuery[]>> {
  const sum: UsageQuery = {
    tenant: TENANT,
    customerKeys: [customer, `cust_${customer}`],
    meterReference: METER,
    interval: MONTH,
    calculation: { type: 'SUM', valueReference: VALUE },
  }
  return {
    sum: [sum],
    'sum by the day': byTheDay(sum),
    'sum, half-hour zone': [{ ...sum, interval: inZone(MONTH) }],
    'sum by condition': [
      {
        ...sum,
        condition: {
          operator: 'AND',
          operands: [
            { property: model, comparator: 'IN', values: ['model-1', 'model-2'] },
            { operator: 'NOT', operands: [{ property: tier, comparator: 'GREATER_THAN', values: ['0'] }] },
          ],
        },
      },
    ],
    'sum by list of 10,000': [{ ...sum, condition: { property: model, comparator: 'IN', values: listed } }],
    'sum split by region': [{ ...sum, splitBy: [region], groupBySubscription: true }],
    'unique models': [{ ...sum, calculation: { type: 'UNIQUE', property: model } }],
  }
}
