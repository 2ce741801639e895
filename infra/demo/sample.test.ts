import { expect, test } from 'vitest'
import { BATCH_SIZE, batchesOf, CUSTOMERS, sampleOfMonth } from './sample.ts'

const month = Date.UTC(2026, 1, 1)
const sample = sampleOfMonth(month)

test('one month always gives the same events, another month other references', () => {
  expect(sampleOfMonth(month)).toEqual(sample)
  const next = new Set(sampleOfMonth(Date.UTC(2026, 2, 1)).map(event => event.reference))
  expect(sample.filter(event => next.has(event.reference))).toEqual([])
})

test('references are unique, times lie in the month and in order, tokens are whole and positive', () => {
  expect(new Set(sample.map(event => event.reference)).size).toBe(sample.length)
  const times = sample.map(event => Date.parse(event.timestamp))
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(times[0]).toBeGreaterThanOrEqual(month)
  expect(times.at(-1)).toBeLessThan(Date.UTC(2026, 2, 1))
  expect(sample.every(event => Number.isInteger(event.contextTokens) && event.contextTokens > 0)).toBe(true)
  expect(sample.every(event => Number.isInteger(event.generatedTokens) && event.generatedTokens > 0)).toBe(true)
})

test('every customer has usage, the first most of it', () => {
  const counts = CUSTOMERS.map(customer => sample.filter(event => event.customer === customer).length)
  expect(counts.every(count => count > 0)).toBe(true)
  expect(Math.max(...counts)).toBe(counts[0])
})

test('batches hold every event once, in order, and never too many', () => {
  const batches = batchesOf(sample, BATCH_SIZE)
  expect(batches.flat()).toEqual(sample)
  expect(Math.max(...batches.map(batch => batch.length))).toBe(BATCH_SIZE)
  expect(batchesOf([], 50)).toEqual([])
})
