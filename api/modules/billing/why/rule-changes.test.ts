import { expect, test } from 'vitest'
import { ruleChanges } from './rule-changes.ts'

const finding = (details: string) => JSON.stringify({ status: 'ERROR', details })
const changed = (field: string, issued: string | null, computed: string | null) => ({ field, issued, computed })
const findings = (details: string) => changed('content.validation_result.0', null, finding(details))

test.each([
  [
    'the tax of a self-billing invoice',
    'SELF_BILLING',
    changed('content.tax_categories.0.percentage', '21', '19'),
    'as the supplier',
  ],
  [
    'an exchange rate that is too old',
    'DEFAULT',
    findings('The exchange rate of EUR and USD is of 2026-01-01.'),
    '31 days',
  ],
  [
    'a country without a rate',
    'DEFAULT',
    findings('No tax rate of CH is known for 2026-01-31.'),
    'tax rate is not known',
  ],
] as const)('%s is explained by the rule that changed', (_name, billing_type, difference, text) => {
  expect(ruleChanges({ billing_type }, [changed('lines', '[]', '[1]'), difference])).toEqual([
    expect.stringContaining(text),
  ])
})

test.each([
  ['the tax of any other invoice', 'DEFAULT', changed('content.tax_categories.0.percentage', '21', '19')],
  ['a line of a self-billing invoice', 'SELF_BILLING', changed('lines', '[]', '[1]')],
  [
    'a finding that the invoice was issued with',
    'DEFAULT',
    changed('content.validation_result.0.details', finding('No tax rate of CH.'), finding('No tax rate of CH, now.')),
  ],
] as const)('%s is not', (_name, billing_type, difference) => {
  expect(ruleChanges({ billing_type }, [difference])).toEqual([])
})
