// What billing asks of a month, in the forms that cost most.
import type { UsageQuery } from '../../api/usage/usage-query.ts'
import { type Interval, instantOf, interval } from '../../shared/time.ts'
import { METER, MONTH, TENANT, VALUE } from './fill.ts'

const model = { reference: 'model', type: 'ENUM' as const }
const region = { reference: 'region', type: 'STRING' as const }
const tier = { reference: 'tier', type: 'NUMBER' as const }
const HALF_HOUR_MS = 1_800_000

/** As a month of a zone of half an hour: both ends lie within an hour. */
const inZone = ({ start, end }: Interval): Interval =>
  interval(instantOf(start + HALF_HOUR_MS), instantOf(end - HALF_HOUR_MS))

const listed = Array.from({ length: 10_000 }, (_, i) => `model-${i * 3}`)

export function questionsOf(customer: string): Readonly<Record<string, UsageQuery>> {
  const sum: UsageQuery = {
    tenant: TENANT,
    customerKeys: [customer, `cust_${customer}`],
    meterReference: METER,
    interval: MONTH,
    calculation: { type: 'SUM', valueReference: VALUE },
  }
  return {
    sum,
    'sum, half-hour zone': { ...sum, interval: inZone(MONTH) },
    'sum by condition': {
      ...sum,
      condition: {
        operator: 'AND',
        operands: [
          { property: model, comparator: 'IN', values: ['model-1', 'model-2'] },
          { operator: 'NOT', operands: [{ property: tier, comparator: 'GREATER_THAN', values: ['0'] }] },
        ],
      },
    },
    'sum by list of 10,000': { ...sum, condition: { property: model, comparator: 'IN', values: listed } },
    'sum split by region': { ...sum, splitBy: [region], groupBySubscription: true },
    'unique models': { ...sum, calculation: { type: 'UNIQUE', property: model } },
  }
}
