import { describe, expect, test } from 'vitest'
import { instantOf, interval } from '../../../../../shared/time.ts'
import { type BillingFacts, type BillingPlace, decideBilling } from './decide-billing.ts'

const at = (seconds: number) => instantOf(seconds * 1_000)
const rated = (...finalInvoices: ReturnType<typeof invoice>[]): BillingPlace => ({
  kind: 'RATED',
  replaced: false,
  tooLate: false,
  finalInvoices,
})
const tooLate: BillingPlace = { kind: 'RATED', replaced: false, tooLate: true, finalInvoices: [] }
const replaced: BillingPlace = { ...tooLate, replaced: true, tooLate: false }
const none = (reason: Extract<BillingPlace, { kind: 'NONE' }>['reason']): BillingPlace => ({ kind: 'NONE', reason })
const facts = (over: Partial<BillingFacts> = {}): BillingFacts => ({
  timestamp: at(150),
  receivedAt: at(151),
  customer: { active: true },
  places: [rated()],
  named: 'OWN',
  ...over,
})
const invoice = (start: number, end: number, finalAt: number) => ({
  period: interval(at(start), at(end)),
  finalAt: at(finalAt),
})
const late = (...finalInvoices: ReturnType<typeof invoice>[]) => [rated(...finalInvoices)]

describe('whether an event is billed', () => {
  const rows: [string, Partial<BillingFacts>, string][] = [
    ['a price rates it', {}, 'DEFAULT'],
    ['nobody has its customer', { customer: null, places: [] }, 'CUSTOMER_NOT_FOUND'],
    ['nothing is held at its time', { places: [none('NO_SUBSCRIPTION')] }, 'NO_SUBSCRIPTION'],
    ['what is held prices other meters', { places: [none('NO_PRICING')] }, 'NO_PRICING'],
    ['no condition of a price holds', { places: [none('CONDITIONS_NOT_MET')] }, 'CONDITIONS_NOT_MET'],
    ['no subscription passes its selector', { places: [none('SELECTOR_NOT_MATCHED')] }, 'SELECTOR_NOT_MATCHED'],
    [
      'nobody has the subscription it names',
      { places: [none('SUBSCRIPTION_NOT_FOUND')], named: 'NOBODYS' },
      'SUBSCRIPTION_NOT_FOUND',
    ],
    [
      'the subscription it names was never activated',
      { places: [none('SUBSCRIPTION_NOT_FOUND')], named: 'OWN' },
      'NO_SUBSCRIPTION',
    ],
    [
      'another customer has the subscription it names',
      { places: [none('SUBSCRIPTION_NOT_FOUND')], named: 'ANOTHERS' },
      'SUBSCRIPTION_OF_ANOTHER_CUSTOMER',
    ],
    [
      'its customer is not active and has no plan',
      { customer: { active: false }, places: [none('NO_SUBSCRIPTION')] },
      'CUSTOMER_NOT_ACTIVE',
    ],
    [
      'its customer is not active and the plan does not price it',
      { customer: { active: false }, places: [none('NO_PRICING')] },
      'CUSTOMER_NOT_ACTIVE',
    ],
    [
      'its customer is not active and no condition holds',
      { customer: { active: false }, places: [none('CONDITIONS_NOT_MET')] },
      'CONDITIONS_NOT_MET',
    ],
    ['its customer was archived but the plan goes on billing', { customer: { active: false } }, 'DEFAULT'],
    ['its parent bills it', { places: [none('PROCESSING_ONLY'), rated()] }, 'DEFAULT'],
    ['its customer is never billed and has no parent', { places: [none('PROCESSING_ONLY')] }, 'NO_SUBSCRIPTION'],
    [
      'its customer is never billed and its parent prices other meters',
      { places: [none('PROCESSING_ONLY'), none('NO_PRICING')] },
      'NO_PRICING',
    ],
    [
      'the invoice of one of two is FINAL',
      { receivedAt: at(400), places: [rated(invoice(100, 200, 300)), rated()] },
      'DEFAULT',
    ],
    ['every invoice that collects it was closed without it', { places: [tooLate] }, 'INVOICE_FINAL'],
    ['a state was persisted in its place', { places: [replaced] }, 'SUPERSEDED_BY_PERSIST_DATA'],
    ['a state was persisted in one of two places', { places: [replaced, rated()] }, 'DEFAULT'],
    ['one place has a state, the other was closed', { places: [replaced, tooLate] }, 'INVOICE_FINAL'],
    ['one of two places still takes it', { places: [tooLate, rated()] }, 'DEFAULT'],
    [
      'it came after its invoice went FINAL',
      { receivedAt: at(301), places: late(invoice(100, 200, 300)) },
      'INVOICE_FINAL',
    ],
    [
      'it came in the second its invoice went FINAL',
      { receivedAt: at(300), places: late(invoice(100, 200, 300)) },
      'DEFAULT',
    ],
    ['it came before its invoice went FINAL', { receivedAt: at(299), places: late(invoice(100, 200, 300)) }, 'DEFAULT'],
    [
      'the FINAL invoice ends where it happened',
      { receivedAt: at(400), places: late(invoice(100, 150, 300)) },
      'DEFAULT',
    ],
    [
      'the FINAL invoice starts where it happened',
      { receivedAt: at(400), places: late(invoice(150, 200, 300)) },
      'INVOICE_FINAL',
    ],
    [
      'the second of its FINAL invoices has its time',
      { receivedAt: at(400), places: late(invoice(100, 140, 160), invoice(140, 200, 300)) },
      'INVOICE_FINAL',
    ],
  ]
  test.each(rows)('%s', (_, over, expected) => {
    const decision = decideBilling(facts(over))
    expect(decision.type === 'DEFAULT' ? 'DEFAULT' : decision.variant).toBe(expected)
  })
})
