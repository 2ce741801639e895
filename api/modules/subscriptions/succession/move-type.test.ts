import { expect, test } from 'vitest'
import { refundsAdvanceCharges } from './move-type.ts'

test.each([
  ['IMMEDIATE', false],
  ['IMMEDIATE_PRO_RATA', true],
  // A price of a year, in a subscription by the month.
  ['NEXT_BILLING_PERIOD', true],
] as const)('%s credits what was charged beyond it: %s', (type, credits) => {
  expect(refundsAdvanceCharges(type)).toBe(credits)
})
