// A price model is known by name in its own line of MODELS alone: what else must differ by model asks the model.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SUPPORTED_PRICING_TYPES } from './rate.ts'

/** A rule of one model that was changed: invoices from before are told apart by it. */
const PAST_RULES = 'api/modules/billing/why/rule-changes.ts'

const comparing = new RegExp(
  `(?:pricing_?[tT]ype\\)?\\s*[!=]==\\s*'(?:${SUPPORTED_PRICING_TYPES.join('|')})')|(?:case '(?:${SUPPORTED_PRICING_TYPES.filter(type => type.includes('_')).join('|')})')`,
)

test('nothing compares a pricing type with the name of a model', () => {
  const files = execFileSync('git', ['ls-files', 'api', 'shared', 'aggregator', 'ingest', 'infra'], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter(file => file.endsWith('.ts') && !/\.test\.ts$|\/testing\//.test(file))
  expect(files.length).toBeGreaterThan(500)
  expect(files.filter(file => comparing.test(readFileSync(file, 'utf8')))).toEqual([PAST_RULES])
})

test.each(["if (config.pricing_type === 'TIERED') {", "case 'FLAT_TOP_UP':", "pricingType !== 'NONE'"])(
  '%s would be found',
  line => expect(comparing.test(line)).toBe(true),
)
