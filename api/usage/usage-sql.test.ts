import { describe, expect, test } from 'vitest'
import { instantOf, interval } from '../../shared/time.ts'
import type { UsageCondition } from '../../shared/usage/condition.ts'
import { readSql } from './read-sql.ts'
import type { UsageQuery } from './usage-query.ts'
import { usageFilter, withinAny } from './usage-sql.ts'

const HOSTILE = "x') OR 1=1; DROP TABLE usage_events -- \\' {p0:String} \u0000 `"
const property = { reference: HOSTILE, type: 'STRING' as const }
const query: UsageQuery = {
  tenant: { platformId: HOSTILE, environment: 'TEST' },
  customerKeys: [HOSTILE],
  meterReference: HOSTILE,
  interval: interval(instantOf(0), instantOf(90 * 86_400_000)),
  calculation: { type: 'SUM', valueReference: HOSTILE },
  condition: {
    operator: 'XOR',
    operands: (['EQUALS', 'NOT_EQUALS', 'IN', 'NOT_IN', 'CONTAINS', 'NOT_CONTAINS'] as const).map(comparator => ({
      property,
      comparator,
      values: [HOSTILE],
    })),
  },
  splitBy: [property],
  groupBySubscription: true,
}

describe('the query builder', () => {
  test('puts nothing a tenant chose into the text but hexadecimal digits', () => {
    const stale = { hours: [0], days: [0] }
    for (const each of [query, { ...query, calculation: { type: 'UNIQUE' as const, property } }]) {
      const { sql, params } = readSql(each, stale, 10)
      expect(sql).not.toMatch(/DROP|OR 1=1|--|\\'|`/)
      const texts = [...sql.matchAll(/'([^']*)'/g)].map(([, text = '']) => text)
      const known = /^(UTC|TOTALS|HOUR|DAY|=|0|,|\^-\?\[0-9\].*|(Array|Decimal|Map)\(.*)?$/
      expect(texts.filter(text => !known.test(text) && !/^([0-9a-f]{2})+$/.test(text))).toEqual([])
      expect(Object.values(params)).toEqual([HOSTILE, 'TEST', [HOSTILE], HOSTILE])
    }
  })
  test('every part of a query starts with its tenant', () => {
    const { sql } = readSql(query, { hours: [0], days: [0] }, 10)
    const reads = sql.split(/FROM usage_/).slice(1)
    expect(reads).toHaveLength(2)
    for (const read of reads) {
      expect(read).toMatch(
        /WHERE platform_id = \{p0:String\} AND environment = \{p1:String\} AND customer_key IN \{p2:/,
      )
    }
  })
  test('refuses no customer, too many, what is no instant, and a condition that means nothing', () => {
    expect(() => usageFilter({ ...query, customerKeys: [] })).toThrow(RangeError)
    expect(() => usageFilter({ ...query, customerKeys: Array.from({ length: 51 }, (_, i) => `${i}`) })).toThrow(
      RangeError,
    )
    expect(() => withinAny('hour', [interval(instantOf(0.5), instantOf(1))])).toThrow(RangeError)
    const number = { reference: 'n', type: 'NUMBER' as const }
    const refused: UsageCondition[] = [
      { property, comparator: 'EQUALS', values: ['a', 'b'] },
      { property, comparator: 'EMPTY', values: ['a'] },
      { property, comparator: 'GREATER_THAN', values: ['1'] },
      { property: number, comparator: 'CONTAINS', values: ['1'] },
      { property: number, comparator: 'IN', values: ['1', "1') OR 1=1 --"] },
      { operator: 'NOT', operands: [] },
    ]
    for (const condition of refused) expect(() => readSql({ ...query, condition }, null, 10)).toThrow(RangeError)
  })
})
