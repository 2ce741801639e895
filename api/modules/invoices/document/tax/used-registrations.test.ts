import { expect, test } from 'vitest'
import type { DraftLine } from '../draft-invoice.ts'
import type { Parties } from '../parties.ts'
import { usedRegistrations } from './used-registrations.ts'

const parties = {
  billing_entity: { registered_address: { country: 'NL' } },
  customer: { type: 'ORGANIZATION', organization: { registered_address: { country: 'FR' } } },
} as unknown as Parties
/** A charge, or a refund of tax that was charged under the registration of this country. */
const line = (registeredIn: string | null): DraftLine =>
  (registeredIn === null ? {} : { tax: { registeredIn } }) as unknown as DraftLine

test.each([
  ['a charge abroad', [null], 'FR', { used: 'FR', others: [] }],
  ['a refund abroad', ['DE'], null, { used: 'DE', others: [] }],
  ['a refund at home, though charges would be abroad', ['NL'], 'FR', { used: null, others: [] }],
  ['refunds of two countries', ['DE', 'NL', 'DE'], 'FR', { used: 'DE', others: ['NL'] }],
  ['a charge at home and a refund abroad', [null, 'DE'], null, { used: null, others: ['DE'] }],
  ['a charge abroad and a refund at home', [null, 'NL'], 'FR', { used: 'FR', others: ['NL'] }],
  ['a charge and a refund under one registration', [null, 'FR'], 'FR', { used: 'FR', others: [] }],
  ['no line', [], 'FR', { used: 'FR', others: [] }],
])('an invoice names the registration of %s', (_what, countries, usedRegistration, expected) => {
  expect(usedRegistrations({ lines: countries.map(line), parties }, { usedRegistration })).toEqual(expected)
})

test('a self-billing invoice has the ids of the customer alone', () => {
  const billingType = 'SELF_BILLING' as const
  expect(usedRegistrations({ lines: [line('DE')], parties, billingType }, { usedRegistration: null })).toEqual({
    used: null,
    others: [],
  })
})
