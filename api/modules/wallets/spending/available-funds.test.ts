import { expect, test } from 'vitest'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import { instantOf, interval } from '../../../../shared/time.ts'
import { createAvailableFunds } from './available-funds.ts'

const now = instantOf(Date.parse('2026-03-01T00:00:00Z'))
const service = interval(instantOf(Date.parse('2026-02-01T00:00:00Z')), now)
const walletIds = ['wall_tax', 'wall_after', 'wall_credits'].map(id => idOf('wall', id))
const [beforeTax, afterTax, credits] = walletIds as [`wall_${string}`, `wall_${string}`, `wall_${string}`]
const of = { walletTypeId: 'walt_1', customerId: 'cust_1' }

test.each([
  ['DEFAULT', [1, 1, 1]],
  ['SELF_BILLING', [0, 0, 1]],
] as const)(
  'what pays a %s invoice: the money of a customer never pays what the customer is owed',
  (billingType, expected) => {
    const funds = createAvailableFunds({
      paying: [
        { walletId: beforeTax, ...of, currency: 'EUR', taxCategory: 'STANDARD' },
        { walletId: afterTax, ...of, currency: 'EUR', taxCategory: null },
        { walletId: credits, ...of, creditTypeId: 'ctyp_1' },
      ],
      grants: walletIds.map((walletId, index) => ({
        id: `wgra_${index}`,
        walletId,
        type: 'DEFAULT',
        startAt: service.start,
        expireAt: null,
        open: decimal('10'),
        reserved: ZERO,
        expired: ZERO,
        isReverted: false,
        seatOf: null,
      })),
      held: new Map(),
      now,
    })
    const payers = funds.payers({ customerId: 'cust_1', currency: 'EUR', invoiceId: null, service, billingType })
    expect([payers.wallets, payers.balances, payers.credits].map(({ length }) => length)).toEqual(expected)
  },
)
