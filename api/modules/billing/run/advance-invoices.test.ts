import { expect, test } from 'vitest'
import { newId } from '../../../../shared/ids.ts'
import { at } from '../../../../shared/time.ts'
import { NO_PAYERS } from '../../invoices/settlement/funds.ts'
import { contentOf, storedContent } from '../../invoices/stored-content.ts'
import { chargesOf } from '../charges/charges.ts'
import { resolveTerms } from '../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../terms/windows.ts'
import { eur, exampleInputs, linesOf, metered, plainUsage, recurring } from '../testing/example-inputs.ts'
import { usageNeeds } from '../usage/usage-needs.ts'
import { type Advance, advanceInvoices } from './advance-invoices.ts'
import { keyOfWindow } from './state/subscription-invoices.ts'

const NOW = at('2026-03-11T08:00:00Z')

/** The first run of a new subscription that charges ahead and by usage. */
function firstRun(complete: boolean, used = '0'): Advance {
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
    usage: { usage: new Map(needs.map(need => [need.key, plainUsage(used, 0)])), usageByCustomer: null },
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

/** A run after the period, of what the first run stored. */
function closingRun(used: string): Advance {
  const first = firstRun(true, '5')
  const { pending, rows } = advanceInvoices(first)
  const stored = pending.map(({ row }) => ({ ...row, content: contentOf(JSON.parse(storedContent(row.content))) }))
  return {
    ...first,
    now: at('2026-05-20T00:00:00Z'),
    usage: firstRun(true, used).usage,
    state: { ...first.state, rows },
    targets: first.targets.map(target => ({ ...target, closes: true })),
    open: new Map(stored.map(row => [row.id, row])),
  }
}

test('an invoice that closes as it was counted keeps the content that is stored', () => {
  const run = closingRun('5')
  const { pending } = advanceInvoices(run)
  expect(pending.map(({ row, notices }) => [row.status, notices.map(({ type }) => type)])).toEqual([
    ['FINAL', ['INVOICE.UPDATED', 'INVOICE.STATUS_TO_FINAL']],
    ['FINAL', ['INVOICE.UPDATED', 'INVOICE.STATUS_TO_DRAFT', 'INVOICE.UPDATED', 'INVOICE.STATUS_TO_FINAL']],
  ])
  for (const { row, stored, notices } of pending) {
    expect(row.content).toBe(run.open.get(row.id)?.content)
    expect(new Set(notices.flatMap(({ row, previous }) => [row, previous ?? row].map(each => each.content)))).toEqual(
      new Set([stored?.content]),
    )
  }
})

test('an invoice that closes with other usage gets its content', () => {
  const run = closingRun('7')
  const { pending } = advanceInvoices(run)
  const [opening, collecting] = pending.map(({ row }) => row)
  expect(opening?.content).toBe(run.open.get(opening?.id ?? '')?.content)
  expect(collecting?.status).toBe('FINAL')
  expect(linesOf(collecting)).toContain('2026-03-11..2026-04-01 7.00')
})
