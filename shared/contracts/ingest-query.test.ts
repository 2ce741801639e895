import { expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { readIngestQuery } from './ingest-query.ts'

for (const query of [
  '',
  'meter_validation=STATIC',
  'cost_prediction=false',
  'meter_validation=STATIC&cost_prediction=false',
]) {
  test(`?${query} is taken by the gateway and by the api`, () => {
    for (const isApi of [false, true])
      expect(readIngestQuery(query, isApi)).toEqual({ isDynamic: false, isPredicted: false })
  })
}

test('?meter_validation=DYNAMIC is taken by the api alone', () => {
  expect(readIngestQuery('cost_prediction=false&meter_validation=DYNAMIC', true)).toEqual({
    isDynamic: true,
    isPredicted: false,
  })
  expect(() => readIngestQuery('meter_validation=DYNAMIC', false)).toThrow('send the events to its address, base_url')
})

test('?cost_prediction=true is taken by the api alone', () => {
  expect(readIngestQuery('cost_prediction=true', true)).toEqual({ isDynamic: false, isPredicted: true })
  expect(() => readIngestQuery('cost_prediction=true', false)).toThrow('send them to its address, base_url')
})

test('each names the values it takes', () => {
  expect(() => readIngestQuery('meter_validation=FOO', true)).toThrow('meter_validation must be STATIC or DYNAMIC.')
  expect(() => readIngestQuery('meter_validation=FOO', false)).toThrow(
    'must be STATIC here; base_url takes DYNAMIC as well.',
  )
})

for (const [query, field] of [
  ['meter_validation=static', 'meter_validation'],
  ['cost_prediction=1', 'cost_prediction'],
  ['dry_run=true', 'dry_run'],
  ['meter_validation=STATIC&meter_validation=STATIC', 'meter_validation'],
  ['=x', ''],
] as const) {
  test.each([false, true])(`?${query} is refused by name`, isApi => {
    let error: unknown
    try {
      readIngestQuery(query, isApi)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'INVALID_FIELD', status: 400, details: { field } })
  })
}
