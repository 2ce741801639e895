// Self-billing between two parties in the United Kingdom (contract: tax note SELF_BILLING_UK_DOMESTIC).
import { expect, test } from 'vitest'
import { exampleInputs, exampleInvoices, recurring } from '../testing/example-inputs.ts'

const notesOf = (variant: 'SELF_BILLING' | undefined, country: string): readonly string[] => {
  const inputs = exampleInputs({
    start: '2026-03-01T00:00:00Z',
    items: [recurring('10')],
    subscription: variant ? { variant } : {},
  })
  const [march] = exampleInvoices(
    {
      ...inputs,
      customer: { ...inputs.customer, organization: { legal_name: 'Acme', registered_address: { country } } },
      billing_entity: { ...inputs.billing_entity, registered_address: { country: 'GB' } },
    },
    1,
  )
  return march?.content.notes ?? []
}

test('the invoice of two parties in the UK says whose tax the VAT is, and no other does', () => {
  expect(notesOf('SELF_BILLING', 'GB')).toEqual(['The VAT shown is your output tax due to HMRC.'])
  expect(notesOf('SELF_BILLING', 'FR')).toEqual([])
  expect(notesOf(undefined, 'GB')).toEqual([])
})
