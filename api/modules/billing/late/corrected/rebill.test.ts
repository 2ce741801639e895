import { describe, expect, test } from 'vitest'
import { at } from '../../../../../shared/time.ts'
import type { ClosedUsage } from '../closed-usage.ts'
import { billedByLaterInvoices, forNextInvoice } from '../later-invoices.ts'
import { differInCharges, haveSameUsageCost, rebillColumns } from './rebill.ts'

const line = (line_id: string, net: string, gross = net) => ({
  line_id,
  amount_excluding_tax: net,
  amount_including_tax: gross,
})

test.each([
  ['the same lines in another order', [line('a', '1'), line('b', '2')], [line('b', '2'), line('a', '1')], false],
  ['an amount', [line('a', '1')], [line('a', '1.01')], true],
  ['only the tax', [line('a', '1', '1.21')], [line('a', '1', '1.2')], true],
  ['a line more', [line('a', '1')], [line('a', '1'), line('b', '0.01')], true],
])('whether documents charge otherwise: %s', (_, one, other, expected) => {
  expect(differInCharges(one, other)).toBe(expected)
})

describe('whether usage costs the same', () => {
  const part = (customer_id: string, exact: string) => ({ customer_id, number: '1', count: '1', exact, printed: exact })
  const cost = (exact: string, more: object = {}) => ({ unit: 'a', service: [0, 1] as const, exact, ...more })
  const other = { ...cost('2'), unit: 'b' }
  test.each([
    ['in another order', [cost('1'), other], [other, cost('1')], true],
    ['with more usage that is included', [cost('1', { number: '5' })], [cost('1', { number: '6' })], true],
    [
      'with a customer whose usage is included',
      [cost('1', { parts: [] })],
      [cost('1', { parts: [part('c', '0')] })],
      true,
    ],
    ['a part of a cent', [cost('1')], [cost('1.001')], false],
    ['only credits', [cost('0', { credits: '1' })], [cost('0', { credits: '2' })], false],
    ['of other customers', [cost('1', { parts: [part('c', '1')] })], [cost('1', { parts: [part('d', '1')] })], false],
    ['of another time', [cost('1')], [cost('1', { service: [1, 2] })], false],
  ])('%s', (_, one, two, expected) => {
    expect(haveSameUsageCost(one, two)).toBe(expected)
  })
})

describe('the new invoice', () => {
  const columns = {
    timezone: 'Europe/Amsterdam',
    invoice_date: '2026-03-30T22:00:00Z',
    due_date: '2026-04-29T22:00:00Z',
    period_start: '2026-02-28T23:00:00Z',
  } as Parameters<typeof rebillColumns>[0]['columns']
  test('has no date before it is FINAL, and holds no period', () => {
    expect(rebillColumns({ columns }, null)).toMatchObject({ invoice_date: null, due_date: null, period_start: null })
  })
  test('is dated on the local day of its finalization, and due as long after it as the original', () => {
    // 00:30 on 6 May in Amsterdam.
    expect(rebillColumns({ columns }, at('2026-05-05T22:30:00Z'))).toMatchObject({
      invoice_date: '2026-05-05T22:00:00Z',
      due_date: '2026-06-04T22:00:00Z',
    })
  })
})

describe('closed time whose late usage a later invoice billed', () => {
  const usage = (invoice_id: string, ...charges: [unit: string, from: number, until: number][]): ClosedUsage => ({
    invoice_id,
    subscription_id: 's',
    positions: [],
    customer_keys: [],
    names_hash: null,
    charges: charges.map(
      ([unit, from, until]) => ({ unit, service: [from, until] }) as unknown as ClosedUsage['charges'][0],
    ),
  })
  test('is that of the earlier invoice; months of one quarter do not overlap', () => {
    const quarter = [usage('jan', ['q1', 0, 1]), usage('feb', ['q1', 1, 2])]
    expect(billedByLaterInvoices(quarter)).toEqual(new Set())
    expect(billedByLaterInvoices([...quarter, usage('mar', ['q1', 0, 2], ['m', 2, 3])])).toEqual(
      new Set(['jan', 'feb']),
    )
  })
  test('is not left over from an invoice that charged nothing', () => {
    const all = [usage('jan', ['a', 0, 1], ['b', 0, 1]), usage('feb', ['a', 0, 1])]
    expect(forNextInvoice(all, new Set(['jan']))).toMatchObject([{ invoice_id: 'jan', charges: [{ unit: 'b' }] }])
    expect(forNextInvoice(all, new Set())).toEqual([])
  })
  test('comes with the rest of its pricing period, marked', () => {
    const quarter = [usage('apr', ['q', 0, 1], ['m', 0, 1]), usage('may', ['q', 1, 2]), usage('jun', ['q', 2, 3])]
    const charges = (all: readonly ClosedUsage[], nothing: readonly string[]) =>
      forNextInvoice(all, new Set(nothing)).map(({ invoice_id, charges: [charge, ...others] }) => [
        invoice_id,
        charge?.isElsewhere ?? false,
        others.length,
      ])
    expect(charges(quarter, ['may'])).toEqual([
      ['apr', true, 0],
      ['may', false, 0],
      ['jun', true, 0],
    ])
    // What was billed late on another combined invoice adds to what was billed of its time.
    expect(charges([...quarter, usage('jul', ['q', 1, 2])], ['may', 'jul'])).toEqual([
      ['apr', true, 0],
      ['may', false, 0],
      ['jun', true, 0],
      ['jul', false, 0],
    ])
  })
})
