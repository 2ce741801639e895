import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { instantOf, interval } from '../../shared/time.ts'
import { planRead, usageFilter, whereConditions, withinAny } from './usage-sql.ts'

const HOUR = 3_600_000
const scope = {
  tenant: { platformId: "p'; DROP TABLE x", environment: 'TEST' as const },
  customerKeys: ["c'"],
  meterReference: "m'",
}

describe('the query builder', () => {
  test('puts nothing a tenant chose into the text', () => {
    const filter = usageFilter(scope)
    const within = withinAny(filter, 'timestamp', [interval(instantOf(1), instantOf(2))])
    const conditions = whereConditions(filter, 'properties', [
      { propertyReference: "k'", comparator: 'NOT_IN', values: ["v'"] },
    ])
    const text = `${filter.scope} ${within} ${conditions}`
    expect(text).not.toContain("'; DROP")
    expect(text).not.toMatch(/[cmkv]'/)
    expect(Object.values(filter.params)).toEqual([scope.tenant.platformId, 'TEST', ["c'"], "m'", 1, 2, "k'", ["v'"]])
  })
  test('every query starts with its tenant', () => {
    expect(usageFilter(scope).scope).toMatch(/^platform_id = \{p0:String\} AND environment = \{p1:String\} AND /)
  })
  test('refuses no customer, too many, and EQUALS with two values', () => {
    expect(() => usageFilter({ ...scope, customerKeys: [] })).toThrow(RangeError)
    expect(() => usageFilter({ ...scope, customerKeys: Array.from({ length: 51 }, (_, i) => `${i}`) })).toThrow(
      RangeError,
    )
    const filter = usageFilter(scope)
    expect(() =>
      whereConditions(filter, 'properties', [{ propertyReference: 'k', comparator: 'EQUALS', values: ['a', 'b'] }]),
    ).toThrow(RangeError)
  })
})

describe('the split between roll-ups and raw rows', () => {
  test('reads edges and stale hours raw and the rest rolled', () => {
    const within = interval(instantOf(HOUR / 2), instantOf(5 * HOUR + 1))
    expect(planRead(within, [0, 2 * HOUR, 5 * HOUR])).toEqual({
      raw: [
        { start: HOUR / 2, end: HOUR },
        { start: 2 * HOUR, end: 3 * HOUR },
        { start: 5 * HOUR, end: 5 * HOUR + 1 },
      ],
      rolled: [
        { start: HOUR, end: 2 * HOUR },
        { start: 3 * HOUR, end: 5 * HOUR },
      ],
    })
  })
  test('tiles the interval without gap or overlap, rolls only whole settled hours, and stays bounded', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 100 * HOUR }),
        fc.integer({ min: 1, max: 300 * HOUR }),
        fc.uniqueArray(fc.integer({ min: -5, max: 400 }), { maxLength: 120 }),
        (start, length, stale) => {
          const within = interval(instantOf(start), instantOf(start + length))
          const staleHours = stale.map(hour => hour * HOUR)
          const { raw, rolled } = planRead(within, staleHours)
          const all = [...raw, ...rolled].toSorted((a, b) => a.start - b.start)
          expect(all[0]?.start).toBe(within.start)
          expect(all.at(-1)?.end).toBe(within.end)
          for (const [index, piece] of all.slice(1).entries()) expect(piece.start).toBe(all[index]?.end)
          for (const piece of rolled) {
            expect([piece.start % HOUR, piece.end % HOUR]).toEqual([0, 0])
            expect(staleHours.some(hour => piece.start <= hour && hour < piece.end)).toBe(false)
          }
          expect(raw.length).toBeLessThanOrEqual(24)
        },
      ),
    )
  })
})
