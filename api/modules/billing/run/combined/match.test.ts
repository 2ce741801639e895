// Which invoices are issued together, and when.
import { describe, expect, test } from 'vitest'
import { at, formatInstant, instantOf } from '../../../../../shared/time.ts'
import type { BillingInputs, SubscriptionInput } from '../../terms/billing-inputs.ts'
import { type InvoiceWindow, invoiceWindows } from '../../terms/windows.ts'
import { exampleInputs } from '../../testing/example-inputs.ts'
import type { Target } from '../advance-invoices.ts'
import { keyOfWindow, type SubscriptionInvoice } from '../state/subscription-invoices.ts'
import { alignTargets, combinedAt, combinedWith } from './match.ts'
import { inputsOf, START, windowOf } from './testing/combining.ts'

describe('invoices are issued together', () => {
  const own = inputsOf({ id: 'a' })
  const window = windowOf(own)
  const changed = (subscription: Partial<SubscriptionInput>): BillingInputs => inputsOf({ id: 'b', subscription })

  test('when customer, billing entity, currency, terms of payment and the end of the period are the same', () => {
    expect(combinedWith(own)).not.toBeNull()
    expect(combinedAt(inputsOf({ id: 'b', start: '2026-03-11T00:00:00Z' }), window)).toBe(combinedAt(own, window))
  })

  test.each<[string, BillingInputs]>([
    ['one does not combine', exampleInputs({ start: START, items: [] })],
    ['the currency differs', changed({ billing_currency: 'USD' })],
    ['the purchase order differs', changed({ purchase_order_number: 'PO-1' })],
    ['it is due at another time', changed({ due_date_configuration: { type: 'END_OF_THE_MONTH', period: null } })],
    ['it is paid in another way', changed({ payment_acceptor_ids: ['acceptor'] })],
    ['the sales tax differs', changed({ sales_tax_percentage: '8' })],
    ['one is self-billing', changed({ variant: 'SELF_BILLING' })],
    ['another customer is billed', { ...own, customer: { ...own.customer, id: 'other' } }],
    ['another customer uses it', { ...own, forwarded_from: { ...own.customer, id: 'other' } }],
    ['the billing entity differs', { ...own, billing_entity: { ...own.billing_entity, id: 'other' } }],
  ])('but not when %s', (_title, other) => {
    expect(combinedAt(other, window)).not.toBe(combinedAt(own, window))
  })

  test('but not when one ends its period at another moment, or only charges ahead', () => {
    expect(combinedAt(own, { ...window, cutoffAt: at('2026-03-16T00:00:00Z') })).not.toBe(combinedAt(own, window))
    expect(combinedAt(own, { ...window, arrears: null })).not.toBe(combinedAt(own, window))
  })
})

describe('they become FINAL together', () => {
  const NOW = at('2026-04-01T12:00:00Z')
  const row = (values: Partial<SubscriptionInvoice>): SubscriptionInvoice =>
    ({ period_start: START, advance_only: false, on_hold: false, created_at: START, ...values }) as SubscriptionInvoice
  const draft = (finalize_at: string | null, more: Partial<SubscriptionInvoice> = {}) =>
    row({ status: 'DRAFT', finalize_at, ...more })
  const open = row({ status: 'OPEN', finalize_at: null })

  /** When each of them may close, and whether it does now. */
  function decided(rows: readonly (SubscriptionInvoice | null)[], over: Partial<SubscriptionInput>[] = []) {
    const members = rows.map((own, index) => {
      const inputs = inputsOf({ id: `s${index}`, subscription: over[index] ?? {} })
      const window = windowOf(inputs)
      const target: Target = { key: keyOfWindow(window), window, closes: true }
      const state = { inputs, rows: own ? [own] : [] }
      return [`s${index}`, { state, targets: [target], truncated: false }] as const
    })
    return [...alignTargets(new Map(members), NOW).values()].flatMap(targets =>
      targets.map(({ closes, finalizeAt }) => [
        finalizeAt === undefined ? null : formatInstant(instantOf(finalizeAt)),
        closes,
      ]),
    )
  }

  test.each<[string, readonly (SubscriptionInvoice | null)[], readonly [string | null, boolean][]]>([
    [
      'both are due',
      [draft('2026-04-01T08:00:00Z'), draft('2026-04-01T11:00:00Z')],
      [
        ['2026-04-01T11:00:00Z', true],
        ['2026-04-01T11:00:00Z', true],
      ],
    ],
    [
      'one was made later: at its time',
      [draft('2026-04-01T08:00:00Z'), draft('2026-04-01T20:00:00Z')],
      [
        ['2026-04-01T20:00:00Z', false],
        ['2026-04-01T20:00:00Z', false],
      ],
    ],
    [
      'one is still OPEN: after the grace period of its end',
      [draft('2026-04-01T08:00:00Z'), open],
      [
        ['2026-04-01T08:00:00Z', true],
        ['2026-04-01T08:00:00Z', true],
      ],
    ],
    [
      'one is only made now: after a grace period from now',
      [draft('2026-04-01T08:00:00Z'), null],
      [
        ['2026-04-01T20:00:00Z', false],
        ['2026-04-01T20:00:00Z', false],
      ],
    ],
    [
      'one is on hold: none waits for it',
      [draft('2026-04-01T08:00:00Z'), draft(null, { on_hold: true })],
      [
        [null, true],
        [null, true],
      ],
    ],
    ['there is one alone', [draft('2026-04-01T08:00:00Z')], [[null, true]]],
  ])('%s', (_title, rows, expected) => {
    expect(decided(rows)).toEqual(expected)
  })

  test('one that is made on hold keeps no other waiting', () => {
    const rows = [draft('2026-04-01T08:00:00Z'), null]
    expect(decided(rows, [{}, { init_invoice_on_hold: true }])).toEqual([
      [null, true],
      [null, true],
    ])
  })

  test('one with more invoices than a run processes keeps the later ones of the others for the next run', () => {
    const inputs = [inputsOf({ id: 'a' }), inputsOf({ id: 'b' })] as const
    const windows: InvoiceWindow[] = []
    for (const window of invoiceWindows(inputs[0])) if (windows.push(window) >= 4) break
    const targetsOf = (count: number) =>
      windows.slice(0, count).map((window): Target => ({ key: keyOfWindow(window), window, closes: true }))
    const later = at('2026-08-01T00:00:00Z')
    const found = alignTargets(
      new Map([
        ['a', { state: { inputs: inputs[0], rows: [] }, targets: targetsOf(4), truncated: false }],
        ['b', { state: { inputs: inputs[1], rows: [] }, targets: targetsOf(3), truncated: true }],
      ]),
      later,
    )
    expect(
      found
        .get('a')
        ?.map(({ finalizeAt }) => finalizeAt !== undefined)
        .slice(-2),
    ).toEqual([true, false])
    expect(found.get('a')?.at(-1)?.closes).toBe(false)
  })
})
