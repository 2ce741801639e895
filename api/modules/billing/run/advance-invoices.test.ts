import { expect, test } from 'vitest'
import { newId } from '../../../../shared/ids.ts'
import { at } from '../../../../shared/time.ts'
import { NO_PAYERS } from '../../invoices/settlement/funds.ts'
import { chargesOf } from '../charges/charges.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { eur, exampleInputs, metered, plainUsage, recurring } from '../testing/example-inputs.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { type Advance, advanceInvoices } from './advance-invoices.ts'
import { keyOfWindow } from './state/subscription-invoices.ts'

const NOW = at('2026-03-11T08:00:00Z')

/** The first run of a new subscription that charges ahead and by usage. */
function firstRun(complete: boolean): Advance {
  const example = exampleInputs({
    start: '2026-03-11T00:00:00Z',
    items: [recurring('100', { billing_in_advance: true }), metered([{ amount: eur('1') }])],
  })
  const inputs = {
    ...example,
    customer: { ...example.customer, id: newId('cust') },
    billing_entity: { ...example.billing_entity, id: newId('bill') },
    subscription: { ...example.subscription, id: newId('ppsu') },
  }
  const terms = resolveTerms(inputs)
  const windows: InvoiceWindow[] = []
  for (const window of invoiceWindows(inputs)) if (windows.push(window) >= 2) break
  const needs = usageNeeds(windows.flatMap(window => chargesOf(terms, window, new Set())))
  return {
    tenant: { platformId: newId('plat'), environment: 'TEST' },
    now: NOW,
    state: { inputs, inputsHash: '', rows: [], ahead: [], hash: '' },
    terms,
    targets: windows.map(window => ({ key: keyOfWindow(window), window, closes: false })),
    closed: [],
    late: [],
    usage: { usage: new Map(needs.map(need => [need.key, plainUsage('0', 0)])), usageByCustomer: null },
    positions: [],
    countedUntil: null,
    complete,
    open: new Map(),
    funds: { payers: () => NO_PAYERS, take: () => {}, balanceOf: () => expect.fail('no wallet is read') },
    added: new Map(),
  }
}

// Made later, it would be refused: the opening invoice is made with the invoice of the first period or never.
test.each([true, false])('a first run makes the opening invoice beside the collecting one; usage complete: %s', of => {
  const { pending } = advanceInvoices(firstRun(of))
  expect(pending.map(({ row }) => [row.status, row.advance_only])).toEqual([
    ['DRAFT', true],
    ['OPEN', false],
  ])
})
