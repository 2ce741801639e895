// Only the list MODELS names a price model. All other code asks the model for what differs between models.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SUPPORTED_PRICING_TYPES } from './rate.ts'

/** Recognises invoices that were made before the rule of one model changed, so it has to name that model. */
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
