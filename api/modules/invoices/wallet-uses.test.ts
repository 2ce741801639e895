import { describe, expect, test } from 'vitest'
import { plain } from '../../../shared/decimal.ts'
import type { InvoiceContent } from './schema.ts'
import { returnsOf, type SubBalanceUse, usesOf } from './wallet-uses.ts'

type Line = {
  readonly id: string
  readonly type: string
  readonly net: string
  readonly used?: readonly [string, string]
}

const content = (...lines: readonly Line[]): Pick<InvoiceContent, 'periods'> =>
  ({
    periods: [
      {
        groups: [
          {
            lines: lines.map(({ id, type, net, used }) => ({
              id,
              type,
              amount_excluding_tax: { quantity: net, currency: 'EUR' },
              details: used
                ? { wallet_balances: [{ wallet_id: used[0], used_balance: { amount: { quantity: used[1] } } }] }
                : {},
            })),
          },
        ],
      },
    ],
  }) as never
const shown = (sums: ReadonlyMap<string, SubBalanceUse>) =>
  [...sums].map(([subBalance, { quantity }]) => `${subBalance} ${plain(quantity)}`)

const invoice = content(
  // A charge says who paid it as well; what is taken is on the lines of the wallets.
  { id: 'a', type: 'REVENUE', net: '200', used: ['w1', '30'] },
  { id: 'b', type: 'WALLET', net: '-30', used: ['w1', '30'] },
  { id: 'c', type: 'WALLET', net: '-12.34', used: ['w2', '12.34'] },
)
/** A credit note of these nets, by line: what reduced the invoice is above zero on it. */
const credit = (nets: Readonly<Record<string, string>>) =>
  content(...Object.entries(nets).map(([id, net]) => ({ id, type: id === 'a' ? 'REVENUE' : 'WALLET', net })))

test('an invoice takes of wallets what their lines say', () => {
  expect(shown(usesOf(invoice))).toEqual(['w1 30', 'w2 12.34'])
})

describe('credit notes give back', () => {
  test.each<[string, Readonly<Record<string, string>>[], string[]]>([
    ['nothing without a credit', [], ['w1 0', 'w2 0']],
    ['nothing of a charge alone', [{ a: '-170' }], ['w1 0', 'w2 0']],
    ['all of it', [{ a: '-200', b: '30', c: '12.34' }], ['w1 30', 'w2 12.34']],
    ['parts', [{ b: '10' }], ['w1 10', 'w2 0']],
    ['several parts together', [{ b: '10' }, { b: '5.5', c: '12.34' }], ['w1 15.5', 'w2 12.34']],
  ])('%s', (_, credits, expected) => {
    expect(shown(returnsOf(invoice, credits.map(credit)))).toEqual(expected)
  })

  test('all that was paid once the line is credited in full, where the line is a cent off by the tax in its price', () => {
    const paid = content({ id: 'b', type: 'WALLET', net: '-29.99', used: ['w1', '30'] })
    expect(shown(returnsOf(paid, [credit({ b: '29.99' })]))).toEqual(['w1 30'])
    const more = content({ id: 'b', type: 'WALLET', net: '-30.01', used: ['w1', '30'] })
    expect(shown(returnsOf(more, [credit({ b: '30.00' })]))).toEqual(['w1 30'])
    expect(shown(returnsOf(more, [credit({ b: '30.01' })]))).toEqual(['w1 30'])
  })
})

describe('a line that credits paid gives them back once a credit note names it', () => {
  const usage = {
    id: 'usage',
    type: 'REVENUE',
    amount_excluding_tax: { quantity: '0', currency: 'EUR' },
    details: { wallet_balances: [{ wallet_id: 'w1', used_balance: { credits: { quantity: '500' } } }] },
  }
  const fee = { id: 'fee', type: 'REVENUE', amount_excluding_tax: { quantity: '10', currency: 'EUR' }, details: {} }
  const of = (...lines: object[]): Pick<InvoiceContent, 'periods'> => ({ periods: [{ groups: [{ lines }] }] }) as never
  const credited = (id: string, quantity: string) => of({ ...fee, id, amount_excluding_tax: { quantity } })

  test.each<[string, readonly Pick<InvoiceContent, 'periods'>[], string]>([
    ['not by the fee beside it', [credited('fee', '-10')], 'w1 0'],
    ['by itself', [credited('usage', '0')], 'w1 500'],
    ['with the fee, on another credit note', [credited('fee', '-10'), credited('usage', '0')], 'w1 500'],
  ])('%s', (_, credits, expected) => {
    expect(shown(returnsOf(of(fee, usage), credits))).toEqual([expected])
  })
})
