// What wallets of type BALANCE pay of an invoice after tax, and what of that stays paid when the invoice is credited.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Decimal, decimal, min, plain, sum } from '../../../../shared/decimal.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import { walletPaidAmount } from '../settlement/settlement.ts'
import { paidByBalances, returnsOfBalances } from '../wallet-uses.ts'
import { type PrepaidBalance, payFromBalances } from './pay-from-balances.ts'

const eur = (quantity: Decimal | string) => toMoney(amount(quantity, 'EUR'))
const balance = (walletId: string, available: string, given: Partial<PrepaidBalance> = {}): PrepaidBalance => ({
  walletId,
  walletTypeId: `type of ${walletId}`,
  currency: 'EUR',
  available: decimal(available),
  ...given,
})

/** An invoice with these lines, with tax; what pays for the line of each key. */
function paid(lines: Readonly<Record<string, string>>, balances: readonly PrepaidBalance[]): string[] {
  const total = eur(sum(Object.values(lines).map(text => decimal(text))))
  const parts = Object.entries(lines).map(([key, text]) => ({ key, amountIncludingTax: eur(text) }))
  const views = payFromBalances({ currency: 'EUR', totals: { total } as never, lines: parts as never }, balances)
  return views.map(({ wallet_id, used_balance, left_balance, available_balance }) =>
    [wallet_id, ...[used_balance, left_balance, available_balance].map(each => each.amount?.quantity)].join(' '),
  )
}

test.each<[string, Readonly<Record<string, string>>, PrepaidBalance[], string[]]>([
  ['part of the total, tax included', { a: '121' }, [balance('w', '100')], ['w 100 0 100']],
  ['all of it, and the rest is left', { a: '121' }, [balance('w', '200')], ['w 121 79 200']],
  [
    'one wallet after the other',
    { a: '121' },
    [balance('v', '21'), balance('w', '500')],
    ['v 21 0 21', 'w 100 400 500'],
  ],
  ['no fraction of a cent of more than there is', { a: '121' }, [balance('w', '100.009')], ['w 100 0.009 100.009']],
  ['nothing with less than a cent', { a: '121' }, [balance('w', '0.009')], []],
  ['nothing of another currency', { a: '121' }, [balance('w', '100', { currency: 'USD' })], []],
  ['nothing of what gives back more than it charges', { a: '21', b: '-121' }, [balance('w', '100')], []],
  ['what is due beside a refund', { a: '121', b: '-21' }, [balance('w', '500')], ['w 100 400 500']],
  ['nothing with an empty wallet', { a: '121' }, [balance('w', '0')], []],
  [
    'not what fills it, which another wallet may pay',
    { fee: '100', usage: '20' },
    [balance('w', '500', { except: new Set(['fee']) }), balance('v', '30')],
    ['w 20 480 500', 'v 30 0 30'],
  ],
])('pays %s', (_title, lines, balances, expected) => {
  expect(paid(lines, balances)).toEqual(expected)
})

const cents = fc.integer({ min: 0, max: 100_000 }).map(value => decimal(String(value)).div('100'))

test('of what wallets paid, as much stays paid as is still due: a credit note refunds them before anybody else', () => {
  fc.assert(
    fc.property(fc.array(cents, { maxLength: 3 }), cents, cents, cents, (used, other, credited, due) => {
      const walletIds = used.map((_, index) => `w${index}`)
      const content = {
        periods: [],
        wallet_balances: used.map((quantity, index) => {
          const view = { amount: { quantity: plain(quantity), currency: 'EUR' } }
          return { wallet_id: `w${index}`, used_balance: view, left_balance: view, available_balance: view }
        }),
      }
      const total = sum(used).plus(other).plus(due)
      const credit = min(credited, total)
      const row = { amount_including_tax: plain(total), credited_amount: plain(credit), paid_amount: plain(other) }
      const settled = { ...row, settled_amount: '0', wallet_amount: plain(paidByBalances(content)) }
      const kept = walletPaidAmount(settled)
      const back = returnsOfBalances(content, kept)
      const returned = sum([...back.values()].map(({ quantity }) => quantity))
      expect(plain(kept.plus(returned))).toBe(plain(sum(used)))
      // Nothing comes back while the invoice still has something to pay, and never more than a wallet paid.
      if (credit.lte(due)) expect(plain(returned)).toBe('0')
      for (const [index, id] of walletIds.entries()) {
        const quantity = back.get(id)?.quantity
        expect(quantity?.gte('0') && quantity.lte(used[index] ?? '0')).toBe(true)
      }
      if (credit.eq(total)) expect(plain(kept)).toBe('0')
      // What went back stays back, also when the other payments are reversed.
      expect(plain(walletPaidAmount({ ...settled, wallet_amount: plain(kept), paid_amount: '0' }))).toBe(plain(kept))
    }),
  )
})
