// A correction is read by the rules of the gateway: what one takes the other takes, and both refuse by the same code and field.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type MeterEntries,
  type PropertyInput,
  readProperties,
  readValues,
  type ValueInput,
} from '../../../api/modules/ingestion/events/read-measures.ts'
import { goodEvent, parseText, REQUESTS_METER } from '../../../ingest/testing/samples.ts'
import { AppError } from '../../../shared/errors.ts'

const METER: MeterEntries = {
  reference: REQUESTS_METER.reference,
  values: REQUESTS_METER.values,
  properties: REQUESTS_METER.properties.map(({ enumValues, ...property }) => ({
    ...property,
    enumValues: [...enumValues],
  })),
}

const named = (entries: readonly { id: string; reference: string }[]) => {
  const ids = fc.constantFrom(...entries.map(({ id }) => id), 'metv_nothing')
  const references = fc.constantFrom(...entries.map(({ reference }) => reference), 'nothing')
  return fc.oneof({ weight: 4, arbitrary: fc.record({ reference: references }) }, fc.record({ id: ids }), fc.record({}))
}
const number = fc.constantFrom('1', '-0.5', '12.500')
const aValue = fc
  .tuple(
    named(METER.values),
    fc.record(
      { number: fc.option(number), amount: fc.option(fc.record({ quantity: number, currency: fc.constant('EUR') })) },
      { requiredKeys: [] },
    ),
  )
  .map(([name, measure]): ValueInput => ({ ...name, ...measure }))
const aProperty = fc
  .tuple(named(METER.properties), fc.constantFrom('eu', 'us', '7', 'text', '', '\0', '\ud800', 'x'.repeat(1_001)))
  .map(([name, value]): PropertyInput => ({ ...name, value }))

const refusalOf = (read: () => unknown): readonly unknown[] => {
  try {
    read()
  } catch (error) {
    if (error instanceof AppError) return [error.code, error.details.field]
    throw error
  }
  return []
}

test('a correction and an event are judged alike', () => {
  const outcomes = new Set<string>()
  const lists = [fc.array(aValue, { maxLength: 3 }), fc.array(aProperty, { maxLength: 4 })] as const
  fc.assert(
    fc.property(...lists, (meter_values, meter_properties) => {
      const mine = refusalOf(() => [readValues(meter_values, METER), readProperties(meter_properties, METER)])
      // The gateway reads a body's text, which JSON.stringify may escape; what it says is the same.
      const parsed = parseText(JSON.stringify({ ...goodEvent(), meter_values, meter_properties }))
      const theirs = parsed.kind === 'reject' ? [parsed.error.code, parsed.error.details.field] : []
      expect(mine).toEqual(theirs)
      outcomes.add(mine.join(' '))
    }),
    { numRuns: 2_000 },
  )
  // The law would prove nothing if they only ever agreed on one thing.
  expect(outcomes.size).toBeGreaterThan(10)
})
