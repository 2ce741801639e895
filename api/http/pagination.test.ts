import { expect, test } from 'vitest'
import { AppError } from '../../shared/errors.ts'
import { dateRange } from './pagination.ts'

const [MARCH, APRIL] = ['2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z']

test.each([
  [`[${MARCH},${APRIL}]`, MARCH, '2026-04-01T00:00:01Z'],
  [`[${MARCH},${MARCH}]`, MARCH, '2026-03-01T00:00:01Z'],
  [MARCH, MARCH, '2026-03-01T00:00:01Z'],
  [`[${MARCH},]`, MARCH, null],
  [`[,${APRIL}]`, null, '2026-04-01T00:00:01Z'],
  ['[,]', null, null],
  ['[2026-03-01T00:00:00.900Z,2026-03-01T00:00:00.100Z]', MARCH, '2026-03-01T00:00:01Z'],
])('the range %s holds whole seconds', (text, from, before) => {
  expect(dateRange('created_at', text)).toEqual({ from, before })
})

test.each([
  [`[${APRIL},${MARCH}]`, 'created_at is a range [from,to]: from must not be after to.'],
  ['[2026-03-01T01:00:00+01:00,2026-02-28T23:59:59Z]', 'created_at is a range [from,to]: from must not be after to.'],
  ['[yesterday,]', 'created_at is a range [from,to] of ISO 8601 times with an offset; either may be empty.'],
  ['2026', 'created_at is a range [from,to] of ISO 8601 times with an offset; either may be empty.'],
])('the range %s is refused', (text, message) => {
  try {
    expect(dateRange('created_at', text)).toBe('refused')
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect([error.code, error.details.field, error.message]).toEqual(['INVALID_FIELD', 'created_at', message])
  }
})
