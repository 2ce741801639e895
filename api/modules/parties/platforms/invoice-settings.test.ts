import { expect, test } from 'vitest'
import { DEFAULT_NUMBER_CONFIGURATIONS } from '../../../../shared/billing/numbering/numbering.ts'
import { DEFAULT_GRACE, graceOf, numberConfigurationOf, wireNumberFault } from './invoice-settings.ts'

test('what a platform does not set is numbered by the defaults of its series', () => {
  expect(numberConfigurationOf(undefined, 'STANDARD')).toEqual(DEFAULT_NUMBER_CONFIGURATIONS.STANDARD)
  expect(numberConfigurationOf({ prefix: null, separator: '/' }, 'CREDIT')).toEqual({
    ...DEFAULT_NUMBER_CONFIGURATIONS.CREDIT,
    separator: '/',
  })
  expect(numberConfigurationOf({ reset_period: { type: 'YEAR', month: 'APRIL' } }, 'STANDARD').resetPeriod).toEqual({
    type: 'YEAR',
    month: 'APRIL',
  })
})

test.each([
  [undefined, null],
  [{ prefix: 'A', dynamic_prefix: [], reset_period: { type: 'NEVER' as const } }, null],
  [{ dynamic_prefix: [] }, 'dynamic_prefix'],
  [{ dynamic_prefix: ['YEAR' as const], reset_period: { type: 'MONTH' as const } }, 'dynamic_prefix'],
  [{ separator: 'abc' }, 'separator'],
  [{ prefix: '{{customer.custom_fields[x]}}' }, null],
  [{ prefix: '{{customer.name}}' }, 'prefix'],
  [{ prefix: '{{customer.custom_fields[x]}}', separator: '' }, 'separator'],
])('%j has its fault at %s', (given, field) => {
  expect(wireNumberFault(given, 'STANDARD')?.field ?? null).toBe(field)
})

test('the grace period is 8 hours until one is set', () => {
  const configuration = { value: 2, type: 'DAY' as const }
  expect(graceOf({})).toEqual(DEFAULT_GRACE)
  expect(graceOf({ invoice_grace_period: { type: 'DEFAULT' } })).toEqual(DEFAULT_GRACE)
  expect(graceOf({ invoice_grace_period: { configuration } })).toEqual(configuration)
  expect(graceOf({ invoice_grace_period: { type: 'CUSTOM', configuration } })).toEqual(configuration)
})
