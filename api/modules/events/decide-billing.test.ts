import { describe, expect, test } from 'vitest'
import { instantOf, interval } from '../../../shared/time.ts'
import { type BillingFacts, type Coverage, decideBilling } from './decide-billing.ts'

const at = (seconds: number) => instantOf(seconds * 1_000)
const plan = (over: Partial<Coverage> = {}): Coverage => ({
  start: at(100),
  end: null,
  pricesMeter: true,
  finalInvoices: [],
  ...over,
})
const facts = (over: Partial<BillingFacts> = {}): BillingFacts => ({
  timestamp: at(150),
  receivedAt: at(151),
  customer: { active: true },
  coverage: [plan()],
  ...over,
})
const invoice = (start: number, end: number, finalAt: number) => ({
  period: interval(at(start), at(end)),
  finalAt: at(finalAt),
})
const late = (...finalInvoices: ReturnType<typeof invoice>[]) => [plan({ finalInvoices })]

describe('whether an event is billed', () => {
  const rows: [string, Partial<BillingFacts>, string][] = [
    ['a plan that prices its meter holds', {}, 'DEFAULT'],
    ['it happened the instant the plan starts', { timestamp: at(100) }, 'DEFAULT'],
    ['it happened before the plan starts', { timestamp: at(99) }, 'NO_SUBSCRIPTION'],
    ['it happened the instant the plan ends', { coverage: [plan({ end: at(150) })] }, 'NO_SUBSCRIPTION'],
    ['it happened just before the plan ends', { coverage: [plan({ end: at(151) })] }, 'DEFAULT'],
    ['nobody has its customer', { customer: null, coverage: [] }, 'CUSTOMER_NOT_FOUND'],
    ['its customer has no subscription', { coverage: [] }, 'NO_SUBSCRIPTION'],
    [
      'its customer is not active and has no plan',
      { customer: { active: false }, coverage: [] },
      'CUSTOMER_NOT_ACTIVE',
    ],
    [
      'its customer is not active and the plan does not price it',
      { customer: { active: false }, coverage: [plan({ pricesMeter: false })] },
      'CUSTOMER_NOT_ACTIVE',
    ],
    ['its customer was archived but the plan goes on billing', { customer: { active: false } }, 'DEFAULT'],
    ['the plan does not price its meter', { coverage: [plan({ pricesMeter: false })] }, 'NO_PRICING'],
    ['one of two plans prices it', { coverage: [plan({ pricesMeter: false }), plan()] }, 'DEFAULT'],
    [
      'the plan that prices it held at another time',
      { coverage: [plan({ pricesMeter: false }), plan({ start: at(200) })] },
      'NO_PRICING',
    ],
    [
      'it came after its invoice went FINAL',
      { receivedAt: at(301), coverage: late(invoice(100, 200, 300)) },
      'INVOICE_FINAL',
    ],
    [
      'it came in the second its invoice went FINAL',
      { receivedAt: at(300), coverage: late(invoice(100, 200, 300)) },
      'DEFAULT',
    ],
    [
      'it came before its invoice went FINAL',
      { receivedAt: at(299), coverage: late(invoice(100, 200, 300)) },
      'DEFAULT',
    ],
    [
      'the FINAL invoice ends where it happened',
      { receivedAt: at(400), coverage: late(invoice(100, 150, 300)) },
      'DEFAULT',
    ],
    [
      'the FINAL invoice starts where it happened',
      { receivedAt: at(400), coverage: late(invoice(150, 200, 300)) },
      'INVOICE_FINAL',
    ],
    [
      'the second of its FINAL invoices has its time',
      { receivedAt: at(400), coverage: late(invoice(100, 140, 160), invoice(140, 200, 300)) },
      'INVOICE_FINAL',
    ],
  ]
  test.each(rows)('%s', (_, over, expected) => {
    const decision = decideBilling(facts(over))
    expect(decision.type === 'DEFAULT' ? 'DEFAULT' : decision.variant).toBe(expected)
  })
})
