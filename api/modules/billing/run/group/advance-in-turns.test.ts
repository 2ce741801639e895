// The invoices of one customer take from wallets in the order in which their periods end.
import { expect, test } from 'vitest'
import { newId } from '../../../../../shared/ids.ts'
import { at } from '../../../../../shared/time.ts'
import { NO_PAYERS } from '../../../invoices/settlement/funds.ts'
import { resolveTerms } from '../../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../../terms/windows.ts'
import { exampleInputs, recurring } from '../../testing/example-inputs.ts'
import type { Advance } from '../advance-invoices.ts'
import { keyOfWindow } from '../state/subscription-invoices.ts'
import { advanceInTurns } from './advance-in-turns.ts'

const NOW = at('2026-03-02T08:00:00Z')
const customers = new Map(['one', 'another'].map(name => [name, newId('cust')]))
const entity = newId('bill')

/** The first run of a subscription whose first two periods are over. `takes` notes what takes from wallets. */
function runOf(name: string, customer: string, takes: string[], months = 1): Advance {
  const example = exampleInputs({
    start: '2026-01-01T00:00:00Z',
    items: [recurring('100')],
    subscription: { billing_period: { type: 'MONTH', value: months } },
  })
  const inputs = {
    ...example,
    customer: { ...example.customer, id: customers.get(customer) ?? '' },
    billing_entity: { ...example.billing_entity, id: entity },
    subscription: { ...example.subscription, id: newId('ppsu') },
  }
  const windows: InvoiceWindow[] = []
  for (const window of invoiceWindows(inputs)) if (windows.push(window) >= 3) break
  return {
    tenant: { platformId: newId('plat'), environment: 'TEST' },
    now: NOW,
    state: { inputs, inputsHash: '', rows: [], ahead: [], hash: '' },
    terms: resolveTerms(inputs),
    targets: windows.map(window => ({ key: keyOfWindow(window), window, closes: false })),
    ...{ closed: [], late: [], positions: [], countedUntil: null, complete: true },
    ...{ usage: { usage: new Map(), usageByCustomer: null }, open: new Map(), added: new Map() },
    funds: {
      payers: () => NO_PAYERS,
      take: () => void takes.push(name),
      balanceOf: () => expect.fail('no wallet is read'),
    },
  }
}

test('what ends first takes first, of whichever subscription, and is saved in that order', () => {
  const takes: string[] = []
  const all = new Map([
    ['a', runOf('a', 'one', takes)],
    ['b', runOf('b', 'another', takes)],
    ['c', runOf('c', 'one', takes, 2)],
    ['d', runOf('d', 'one', takes)],
  ])
  const { advanced, pending, failed } = advanceInTurns(all)
  const nameOf = new Map([...all].map(([id, { state }]) => [state.inputs.subscription.id, id]))
  expect(
    pending.map(({ row }) => `${nameOf.get(row.pricing_plan_subscription_id ?? '')} ${row.cutoff_at?.slice(0, 10)}`),
  ).toEqual([
    // The opening invoices, which charge in advance alone.
    ...['a 2026-01-01', 'c 2026-01-01', 'd 2026-01-01'],
    ...['a 2026-02-01', 'd 2026-02-01', 'a 2026-03-01', 'c 2026-03-01', 'd 2026-03-01', 'c 2026-05-01'],
    ...['b 2026-01-01', 'b 2026-02-01', 'b 2026-03-01'],
  ])
  expect(takes.join('')).toBe('acdadacdcbbb')
  expect(advanced.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd'])
  expect(failed.size).toBe(0)
})

test('one that cannot be billed keeps no other of its customer from being billed', () => {
  const takes: string[] = []
  const broken = runOf('broken', 'one', takes)
  const { advanced, pending, failed } = advanceInTurns(
    new Map([
      ['good', runOf('good', 'one', takes)],
      [
        'broken',
        {
          ...broken,
          // From its second invoice on.
          get terms() {
            if (takes.includes('broken')) throw new Error('it cannot be billed')
            return broken.terms
          },
        },
      ],
    ]),
  )
  expect(takes).toContain('broken')
  expect(advanced.map(({ id }) => id)).toEqual(['good'])
  expect([...failed.keys()]).toEqual(['broken'])
  expect(pending).toHaveLength(3)
})
