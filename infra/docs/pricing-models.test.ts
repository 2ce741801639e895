// docs/pricing-models.md is true: its examples are prices, its figures are what is billed, its pictures are drawn from both.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkPrice } from '../../api/modules/catalog/pricing-plans/checks/check-price.ts'
import { decimal, plain } from '../../shared/decimal.ts'
import { findPriceModel, SUPPORTED_PRICING_TYPES } from '../../shared/rating/rate.ts'
import { drawPrice } from './pricing-chart.ts'
import { figure, rateRow, readExamples } from './pricing-models.ts'

const examples = readExamples()

test('every pricing type that can be billed by itself has an example', () => {
  const shown = new Set(examples.map(({ json }) => json['pricing_type']))
  const billed = SUPPORTED_PRICING_TYPES.filter(type => findPriceModel(type)?.basis !== 'chosen')
  expect(billed.filter(type => !shown.has(type))).toEqual([])
})

describe.each(examples)('$title', example => {
  test('is a price the catalog takes', () => {
    const metric = example.onMoney ? 'AMOUNT' : 'NUMBER'
    expect(() => checkPrice(example.json as never, { model: 'USAGE_BASED', metric }, 'config')).not.toThrow()
  })

  test.each(example.rows)('charges $charge', row => {
    const rated = rateRow(example, row)
    expect(plain(rated.total.quantity)).toBe(plain(figure(row['charge'])))
    if (row['carried out'] !== undefined) expect(plain(rated.rollover)).toBe(plain(figure(row['carried out'])))
  })
})

const pictured = examples.flatMap(example => (example.picture === null ? [] : [{ example, picture: example.picture }]))

test.each(pictured)('$picture is drawn from its price (npm run docs:config)', ({ example, picture }) => {
  expect(readFileSync(join('docs', picture), 'utf8')).toBe(drawPrice(example))
})

test('a figure is read with its thousands', () => {
  expect(figure('-1,000.5').eq(decimal('-1000.5'))).toBe(true)
})
