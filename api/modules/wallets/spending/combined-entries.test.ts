// An invoice for several subscriptions spends of each grant what can pay in the time of the subscription that uses it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimal, min, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { idOf } from '../../../../shared/ids.ts'
import { at, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { type CombinedUse, combinedEntries } from './combined-entries.ts'
import { type FundedGrant, usableGrants } from './usable-grants.ts'

const WALLET = idOf('wall', 'wall_credits')
const END = at('2026-04-01T00:00:00Z')
const now = at('2026-04-02T00:00:00Z')
const from = (start: string): Interval => interval(at(`${start}T00:00:00Z`), END)
const JANUARY = from('2026-01-01')
const MARCH = from('2026-03-01')
const MID_MARCH = from('2026-03-11')

type Part = { readonly open?: number; readonly expired?: number; readonly expireAt?: string | null }
const grant = (id: string, { open = 0, expired = 0, expireAt = null }: Part): FundedGrant => ({
  id: `wgra_${id}`,
  walletId: WALLET,
  type: 'DEFAULT',
  startAt: JANUARY.start,
  expireAt: expireAt === null ? null : at(`${expireAt}T00:00:00Z`),
  open: decimal(String(open)),
  reserved: ZERO,
  expired: decimal(String(expired)),
  isReverted: false,
  seatOf: null,
})
const use = (service: Interval, quantity: number): CombinedUse => ({
  service,
  uses: new Map([[WALLET, { quantity: decimal(String(quantity)) }]]),
})
/** Each entry by what it does, how much of what. */
const said = (funded: readonly FundedGrant[], all: readonly CombinedUse[]): string[] =>
  combinedEntries('invo_1', all, { funded, now }).map(
    ({ move, quantity, grantId }) => `${move} ${plain(quantity)} ${grantId}`,
  )

const inFebruary = grant('expired', { expired: 100, expireAt: '2026-02-01' })
const earlyMarch = grant('early', { open: 30, expireAt: '2026-03-05' })
const live = grant('live', { open: 100 })

test.each<[string, readonly FundedGrant[], readonly CombinedUse[], readonly string[]]>([
  [
    'what is for March alone spends no grant that had expired in February',
    [inFebruary, live],
    [use(JANUARY, 0), use(MARCH, 100)],
    ['RESERVE 100 wgra_live', 'SPEND 100 wgra_live'],
  ],
  [
    'what is for the quarter spends that grant, and leaves the live one to the other',
    [inFebruary, live],
    [use(JANUARY, 100), use(MARCH, 100)],
    [
      'RESERVE 100 wgra_live',
      'SPEND 100 wgra_live',
      'REOPEN 100 wgra_expired',
      'RESERVE 100 wgra_expired',
      'SPEND 100 wgra_expired',
    ],
  ],
  [
    'what starts in the middle of March spends no grant that ended before',
    [earlyMarch, live],
    [use(MARCH, 20), use(MID_MARCH, 20)],
    ['RESERVE 20 wgra_live', 'SPEND 20 wgra_live', 'RESERVE 20 wgra_early', 'SPEND 20 wgra_early'],
  ],
  [
    'of one time, all of them together spend what one would',
    [live],
    [use(MARCH, 60), use(MARCH, 40)],
    ['RESERVE 60 wgra_live', 'SPEND 60 wgra_live', 'RESERVE 40 wgra_live', 'SPEND 40 wgra_live'],
  ],
])('%s', (_title, funded, all, expected) => {
  expect(said(funded, all)).toEqual(expected)
})

test('whatever the invoices took one after the other, the document can spend, and each grant no more than it has', () => {
  const anyGrant = fc.record({
    open: fc.integer({ min: 0, max: 50 }),
    expired: fc.integer({ min: 0, max: 50 }),
    expireAt: fc.constantFrom(null, '2026-02-01', '2026-03-05', '2026-05-01'),
  })
  const anyPart = fc.record({
    service: fc.constantFrom(JANUARY, MARCH, MID_MARCH),
    wanted: fc.integer({ min: 0, max: 90 }),
  })
  fc.assert(
    fc.property(fc.array(anyGrant, { maxLength: 4 }), fc.array(anyPart, { maxLength: 4 }), (some, parts) => {
      const funded = some.map((part, index) => grant(String(index), part))
      // Each takes all that it may of what those before it left, up to what it wants.
      let left: readonly FundedGrant[] = funded
      const all = parts.map(({ service, wanted }) => {
        const can = sum(usableGrants(left, new Map(), { service, now }).map(({ open }) => open))
        const one = use(service, Number(plain(min(can, decimal(String(wanted))))))
        const taken = combinedEntries('invo_0', [one], { funded: left, now })
        left = left.map(each => {
          const spent = sum(taken.filter(e => e.grantId === each.id && e.move === 'SPEND').map(e => e.quantity))
          const fromOpen = min(spent, each.open)
          return { ...each, open: each.open.minus(fromOpen), expired: each.expired.minus(spent.minus(fromOpen)) }
        })
        return one
      })
      const entries = combinedEntries('invo_1', all, { funded, now: instantOf(now) })
      for (const each of funded) {
        const spent = sum(entries.filter(e => e.grantId === each.id && e.move === 'SPEND').map(e => e.quantity))
        expect(spent.lte(each.open.plus(each.expired))).toBe(true)
      }
    }),
  )
})
