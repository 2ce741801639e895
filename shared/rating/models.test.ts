// A new price model is one file, and its line in rate.ts. What others do by a price, they do by what its model says.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SUPPORTED_PRICING_TYPES } from './rate.ts'

/** The rule of a change of one model, which invoices of before it are explained by. */
const HISTORY = 'api/modules/billing/why/rule-changes.ts'

const sources = ['shared', 'api', 'ingest', 'aggregator']
  .flatMap(part => readdirSync(part, { recursive: true, encoding: 'utf8' }).map(name => `${part}/${name}`))
  .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('/testing/') && name !== HISTORY)

const decides = (type: string): RegExp => new RegExp(`(pricing_?type\\)?|\\btype) [!=]== '${type}'`, 'i')

test('nothing decides by the name of a model', () => {
  const named = sources.flatMap(name => {
    const text = readFileSync(name, 'utf8')
    return SUPPORTED_PRICING_TYPES.filter(type => decides(type).test(text)).map(type => `${name} ${type}`)
  })
  expect(sources.length).toBeGreaterThan(1_000)
  expect(named, 'let the model say it (shared/rating/price-model.ts)').toEqual([])
})
