import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Zone, zoneOf } from '../../../../shared/billing/local-days.ts'
import { at, formatInstant, instantOf } from '../../../../shared/time.ts'
import { mergedUnits, movedTime } from './from-template.ts'

const zone = (name: string): Zone => zoneOf(name) as Zone
const moved = (time: string, from: string, to: string, name: string): string =>
  formatInstant(movedTime(at(time), { from: at(from), to: at(to), zone: zone(name) }))

test.each([
  [
    'a trial of 14 days',
    '2026-01-15T00:00:00Z',
    '2026-01-01T00:00:00Z',
    '2026-03-11T10:00:00Z',
    'UTC',
    '2026-03-25T10:00:00Z',
  ],
  [
    'into winter time',
    '2026-01-14T23:00:00Z',
    '2025-12-31T23:00:00Z',
    '2026-10-19T22:00:00Z',
    'Europe/Amsterdam',
    '2026-11-02T23:00:00Z',
  ],
  [
    'into summer time',
    '2026-01-14T23:00:00Z',
    '2025-12-31T23:00:00Z',
    '2026-03-19T23:00:00Z',
    'Europe/Amsterdam',
    '2026-04-02T22:00:00Z',
  ],
  ['half a day', '2026-01-01T12:00:00Z', '2026-01-01T00:00:00Z', '2026-03-11T10:00:00Z', 'UTC', '2026-03-11T22:00:00Z'],
  [
    'the start itself',
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z',
    '2026-03-11T10:00:00Z',
    'UTC',
    '2026-03-11T10:00:00Z',
  ],
])('%s', (_title, time, from, to, name, expected) => {
  expect(moved(time, from, to, name)).toBe(expected)
})

test('order is kept, and to where it was changes nothing', () => {
  const hour = fc
    .integer({ min: Date.parse('2025-01-01') / 3_600_000, max: Date.parse('2028-01-01') / 3_600_000 })
    .map(value => instantOf(value * 3_600_000))
  fc.assert(
    fc.property(
      hour,
      hour,
      fc.integer({ min: 0, max: 10_000 }),
      fc.constantFrom('UTC', 'Europe/Amsterdam', 'America/New_York'),
      (from, to, hours, name) => {
        const time = instantOf(from + hours * 3_600_000)
        expect(movedTime(time, { from, to: from, zone: zone(name) })).toBe(time)
        expect(movedTime(time, { from, to, zone: zone(name) })).toBeGreaterThanOrEqual(to)
      },
    ),
  )
})

test.each<[string, readonly [string, string][] | null, string[]]>([
  ['none', null, ['a 1', 'b 2']],
  ['of one price', [['b', '5']], ['b 5', 'a 1']],
  ['of another price', [['c', '3']], ['c 3', 'a 1', 'b 2']],
])('units of a customization: %s', (_title, given, expected) => {
  const of = (entries: readonly (readonly [string, string])[]) =>
    entries.map(([pricing_item_config_id, number]) => ({ pricing_item_config_id, number }))
  const template = {
    units: of([
      ['a', '1'],
      ['b', '2'],
    ]),
  }
  const customization = given ? { pricing_plan_schedule_id: 'schedule', units: of(given) } : undefined
  const shown = mergedUnits(template, customization).map(each => `${each.pricing_item_config_id} ${each.number}`)
  expect(shown).toEqual(expected)
})
