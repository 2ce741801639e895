import { describe, expect, test } from 'vitest'
import { instantOf, interval } from '../../../shared/time.ts'
import type { UsageCondition } from '../../../shared/usage/condition.ts'
import type { UsageQuery } from '../usage-query.ts'
import { tenantFilter, usageFilter, withinAny } from '../usage-sql.ts'
import { piecesOf, planQueries } from './plan-queries.ts'
import { distinctExactlySql, usageStatement } from './usage-statement.ts'

const HOSTILE = "x') OR 1=1; DROP TABLE usage_events -- \\' {p0:String} \u0000 `"
const HOUR = 3_600_000
const property = { reference: HOSTILE, type: 'STRING' as const }
const query: UsageQuery = {
  tenant: { platformId: HOSTILE, environment: 'TEST' },
  customerKeys: [HOSTILE, ...Array.from({ length: 20 }, (_, place) => `${HOSTILE}${place}`)],
  meterReference: HOSTILE,
  interval: interval(instantOf(HOUR / 2), instantOf(90 * 24 * HOUR)),
  calculation: { type: 'SUM', valueReference: HOSTILE },
  condition: {
    operator: 'XOR',
    operands: (['EQUALS', 'NOT_EQUALS', 'IN', 'NOT_IN', 'CONTAINS', 'NOT_CONTAINS'] as const).map(comparator => ({
      property,
      comparator,
      values: [
        HOSTILE,
        ...(comparator === 'IN' ? Array.from({ length: 20 }, (_, place) => `${place} ${HOSTILE}`) : []),
      ],
    })),
  },
  splitBy: [property],
  groupBySubscription: true,
  askingFor: { keys: [HOSTILE], orSelector: true },
}
const queries: UsageQuery[] = [
  query,
  { ...query, meterReference: `${HOSTILE} 2`, calculation: { type: 'UNIQUE' as const, property } },
  { ...query, customerKeys: [HOSTILE], meterReference: 'plain', calculation: { type: 'MAX', valueReference: HOSTILE } },
]

function statementsOf(of: readonly UsageQuery[]) {
  const plan = planQueries(of)
  const known = { raw: false, recentFrom: 80 * 24 * HOUR, staleOf: () => ({ hours: [5 * HOUR], days: [0] }) }
  const built = { tenant: query.tenant, pieces: piecesOf(plan, known), upTo: undefined, limit: 10 }
  const [planned] = plan.queries
  if (!planned) throw new Error('something is planned')
  return [
    usageStatement({ ...built, queries: plan.queries, checked: true }),
    distinctExactlySql({ ...built, queries: [planned], checked: false }, planned),
  ]
}

describe('the statement', () => {
  test('has nothing in its text that a tenant chose but hexadecimal digits', () => {
    for (const { sql, params } of queries.flatMap(each => statementsOf([each]).concat(statementsOf(queries)))) {
      expect(sql).not.toMatch(/DROP|OR 1=1|--|\\'|`/)
      const texts = [...sql.matchAll(/'([^']*)'/g)].map(([, text = '']) => text)
      const known =
        /^(UTC|TOTALS|HOUR|DAY|DAY_TOTALS|=|0|,|sel:|\^-\?\[0-9\].*|(Array|Decimal|Map)\(.*|(key|meter|text) String(, meter String)?)?$/
      expect(texts.filter(text => !known.test(text) && !/^(([0-9a-f]{2})+,?)+$/.test(text))).toEqual([])
      expect(Object.values(params)).toEqual([HOSTILE, 'TEST'])
    }
  })
  test('starts with its tenant wherever it reads, and names whose rows they are', () => {
    for (const { sql } of statementsOf(queries)) {
      const reads = sql.split(/FROM usage_/).slice(1)
      expect(reads.length).toBeGreaterThanOrEqual(2)
      for (const read of reads) {
        expect(read).toMatch(
          /WHERE platform_id = \{p0:String\} AND environment = \{p1:String\} AND \(?customer_key(, meter_reference\))? IN \(/,
        )
      }
    }
  })
  test('reads marks only where roll-ups are checked, and a source only where there is time for it', () => {
    const whole = { ...query, interval: interval(instantOf(0), instantOf(24 * HOUR)) }
    const plain: UsageQuery = {
      tenant: query.tenant,
      customerKeys: ['c'],
      meterReference: 'm',
      interval: whole.interval,
      calculation: { type: 'SUM', valueReference: 'v' },
    }
    const plan = planQueries([plain])
    const pieces = piecesOf(plan, { raw: false, recentFrom: Number.POSITIVE_INFINITY, staleOf: () => undefined })
    const sqlOf = (checked: boolean) =>
      usageStatement({ tenant: query.tenant, queries: plan.queries, pieces, upTo: undefined, checked, limit: 10 }).sql
    expect([...sqlOf(true).matchAll(/FROM usage_(\w+)/g)].map(([, table]) => table)).toEqual([
      'rollups_by_grain',
      'bucket_marks',
    ])
    expect([...sqlOf(false).matchAll(/FROM usage_(\w+)/g)].map(([, table]) => table)).toEqual(['rollups_by_grain'])
  })
  test('reads of each meter only the roll-ups that its figures are taken from', () => {
    const of = (meterReference: string, more: Partial<UsageQuery> = {}): UsageQuery => ({
      tenant: query.tenant,
      customerKeys: ['c'],
      meterReference,
      interval: interval(instantOf(0), instantOf(48 * HOUR)),
      calculation: { type: 'SUM', valueReference: 'v' },
      ...more,
    })
    const plan = planQueries([of('x'), of('y', { splitBy: [property] }), of('z')])
    const pieces = piecesOf(plan, { raw: false, recentFrom: Number.POSITIVE_INFINITY, staleOf: () => undefined })
    const shared = { tenant: query.tenant, pieces, upTo: undefined, checked: true, limit: 10 }
    const { sql } = usageStatement({ ...shared, queries: plan.queries })
    expect(sql).toContain("(meter_reference IN (unhex('78'), unhex('7a')) AND ((grain = 'DAY_TOTALS' AND")
    expect(sql).toContain("(meter_reference IN (unhex('79')) AND ((grain = 'DAY' AND")
  })
})

describe('the parts of a statement', () => {
  test('refuse no customer, too many, what is no instant, and a condition that means nothing', () => {
    expect(() => usageFilter({ ...query, customerKeys: [] })).toThrow(RangeError)
    expect(() => usageFilter({ ...query, customerKeys: Array.from({ length: 51 }, (_, i) => `${i}`) })).toThrow(
      RangeError,
    )
    expect(() => withinAny('hour', [interval(instantOf(0.5), instantOf(1))])).toThrow(RangeError)
    expect(tenantFilter(query.tenant).scope).not.toContain(HOSTILE)
    const number = { reference: 'n', type: 'NUMBER' as const }
    const refused: UsageCondition[] = [
      { property, comparator: 'EQUALS', values: ['a', 'b'] },
      { property, comparator: 'EMPTY', values: ['a'] },
      { property, comparator: 'GREATER_THAN', values: ['1'] },
      { property: number, comparator: 'CONTAINS', values: ['1'] },
      { property: number, comparator: 'IN', values: ['1', "1') OR 1=1 --"] },
      { operator: 'NOT', operands: [] },
    ]
    for (const condition of refused) expect(() => statementsOf([{ ...query, condition }])).toThrow(RangeError)
  })
})
