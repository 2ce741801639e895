// What one statement of the database reserves, against the same reservations one after the other in memory.

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BookedGrant, createGrantBook } from '../../../../shared/billing/wallets/grant-book.ts'
import { SERVICE } from '../../../../shared/database/database.ts'
import { decimalOfInteger, plain, sum } from '../../../../shared/decimal.ts'
import { newId } from '../../../../shared/ids.ts'
import { formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startApi } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { walletsOf } from '../testing/wallets-of.ts'
import { reserveMany } from './reserve-many.ts'

const DAY = 86_400_000

let api: ApiHarness
let of: Awaited<ReturnType<typeof walletsOf>>
let wallets: Row[]

beforeAll(async () => {
  api = await startApi()
  of = await walletsOf(api.tenants.aLive)
  wallets = [await of.wallet(of.CREDITS), await of.wallet(of.CREDITS), await of.wallet(of.CREDITS)]
})
afterAll(() => api?.close())

const terms = fc.record({
  wallet: fc.nat({ max: 2 }),
  open: fc.integer({ min: 1, max: 40 }),
  type: fc.constantFrom('DEFAULT', 'PROMOTION'),
  startDays: fc.constantFrom(-3, -2, -1, 1),
  expireDays: fc.constantFrom(null, -1, 0, 2, 3),
  seat: fc.constantFrom(null, null, 'ada', 'bob'),
})
const use = fc.record({
  wallet: fc.nat({ max: 2 }),
  quantity: fc.integer({ min: 1, max: 30 }),
  customer: fc.constantFrom(null, 'ada', 'bob'),
})

/**
 * Puts the grants into the database with their entries, past the api, which grants PER_SEAT by rules alone. The accounts are
 * written without `seat_of`, as the version before writes them during a rolling upgrade.
 */
async function insert(grants: readonly BookedGrant[]): Promise<void> {
  const { platformId, environment } = api.tenants.aLive.tenant
  const rows = grants.map(grant => ({
    id: grant.id,
    wallet_id: grant.walletId,
    type: grant.type,
    seat: grant.seatOf === null ? null : { customer_id: grant.seatOf, product_item_id: 'pitm_1' },
    start_at: formatInstant(grant.startAt),
    expire_at: grant.expireAt === null ? null : formatInstant(grant.expireAt),
    open: plain(grant.open),
  }))
  const values = [platformId, environment, JSON.stringify(rows)]
  await api.sql(
    `insert into wallet_grants (platform_id, environment, id, created_at, updated_at, customer_id, billing_entity_id, wallet_id,
       type, grant_credits, start_at, expire_at, source, seat)
     select $1, $2::environment, g.id, now(), now(), w.customer_id, (select id from billing_entities where platform_id = $1 and environment = $2::environment
       limit 1), g.wallet_id, g.type, '{}', g.start_at, g.expire_at, 'MANUAL', g.seat
     from ${GIVEN} join wallets w on w.id = g.wallet_id`,
    values,
  )
  await api.sql(
    `insert into wallet_grant_accounts (platform_id, environment, grant_id, wallet_id, type, start_at, expire_at)
     select $1, $2::environment, g.id, g.wallet_id, g.type, g.start_at, g.expire_at from ${GIVEN}`,
    values,
  )
  await post(rows, 'GRANTED')
}

const GIVEN =
  'jsonb_to_recordset($3::jsonb) as g(id text, wallet_id text, type text, seat jsonb, start_at timestamptz, expire_at timestamptz)'
const SIDES = { GRANTED: ['FUNDING', 'OPEN'], REVERTED: ['OPEN', 'REVERTED'] } as const

const post = (rows: readonly { id: string; wallet_id: string; open: string }[], type: keyof typeof SIDES) =>
  api.sql(
    `insert into wallet_entries (platform_id, environment, id, created_at, wallet_id, grant_id, type, debit_account, credit_account, quantity,
       effective_at, cause_type)
     select $1, $2::environment, 'went_' || $3::text || g.id, now(), g.wallet_id, g.id, $3::text, $4, $5, g.open, now(), 'REQUEST'
     from jsonb_to_recordset($6::jsonb) as g(id text, wallet_id text, open numeric) where g.open > 0`,
    [
      api.tenants.aLive.tenant.platformId,
      api.tenants.aLive.tenant.environment,
      type,
      ...SIDES[type],
      JSON.stringify(rows),
    ],
  )

/** Takes away what is left, for the next run. */
async function empty(): Promise<void> {
  const rows = await api.sql(
    'select grant_id as id, wallet_id, open::text from wallet_grant_accounts where wallet_id = any($1) and open > 0',
    [wallets.map(({ id }) => id)],
  )
  await post(rows as never, 'REVERTED')
}

test('the database grants, refuses and takes from grants as the rules say, whatever is there and whatever comes', async () => {
  const property = fc.asyncProperty(
    fc.array(terms, { maxLength: 9 }),
    fc.array(use, { minLength: 1, maxLength: 20 }),
    async (given, uses) => {
      const now = api.database.clock.now()
      const day = (days: number): Instant => instantOf(Math.floor(now / 1_000) * 1_000 + days * DAY)
      const walletId = (index: number): string => String(wallets[index]?.['id'])
      const grants = given.map(
        (each): BookedGrant => ({
          id: newId('wgra'),
          walletId: walletId(each.wallet),
          type: each.type as 'DEFAULT',
          startAt: each.expireDays !== null && each.expireDays <= each.startDays ? day(-4) : day(each.startDays),
          expireAt: each.expireDays === null ? null : day(each.expireDays),
          open: decimalOfInteger(each.open),
          isReverted: false,
          seatOf: each.seat,
        }),
      )
      if (grants.length > 0) await insert(grants)
      const operations = uses.map(({ wallet, quantity, customer }) => ({
        kind: 'RESERVE' as const,
        actor: SERVICE,
        wallet: walletId(wallet),
        id: newId('wres'),
        reference: newId('wres').slice(5),
        given: { credits: { quantity: String(quantity), credit_type_id: of.creditType['id'] } },
        customerId: customer,
        leaseMs: 600_000,
      }))
      const outcomes = await reserveMany(api, api.tenants.aLive.tenant, operations)
      const rows = await api.sql('select id, parts from wallet_reservations where id = any($1)', [
        operations.map(({ id }) => id),
      ])
      const parts = new Map(rows.map(row => [row['id'], row['parts']]))
      const book = createGrantBook(grants)
      for (const [index, { id, wallet, customerId, given: of }] of operations.entries()) {
        const reserved = book.reserve(
          { walletId: wallet, customerId },
          decimalOfInteger(Number(of.credits.quantity)),
          now,
        )
        const outcome = outcomes[index]
        expect(parts.get(id) ?? null).toEqual(
          reserved?.parts.map(({ grantId, quantity }) => ({ grant_id: grantId, quantity: plain(quantity) })) ?? null,
        )
        const open = plain(book.openOf({ walletId: wallet, customerId }, now))
        expect(outcome && 'refused' in outcome ? outcome.refused.message : 'granted').toContain(
          reserved ? 'granted' : `The wallet has ${open} open`,
        )
      }
      const [sums] = await api.sql(
        'select coalesce(sum(reserved), 0)::text as reserved from wallet_grant_accounts where grant_id = any($1)',
        [grants.map(({ id }) => id)],
      )
      const granted = operations.filter(({ id }) => parts.has(id)).map(({ given: of }) => of.credits.quantity)
      expect(sums?.['reserved']).toBe(plain(sum(granted.map(quantity => decimalOfInteger(Number(quantity))))))
      await empty()
    },
  )
  await fc.assert(property, { numRuns: 15, endOnFailure: true })
})

test('the credits of a seat stay its own when its accounts were written without it', async () => {
  const now = api.database.clock.now()
  const walletId = String(wallets[0]?.['id'])
  const grant = { id: newId('wgra'), walletId, type: 'DEFAULT', open: decimalOfInteger(5), seatOf: 'ada' } as const
  await insert([{ ...grant, startAt: instantOf(now - DAY), expireAt: null, isReverted: false }])
  const reserveAs = (customerId: string | null) => ({
    kind: 'RESERVE' as const,
    actor: SERVICE,
    wallet: walletId,
    id: newId('wres'),
    reference: newId('wres').slice(5),
    given: { credits: { quantity: '3', credit_type_id: of.creditType['id'] } },
    customerId,
    leaseMs: 600_000,
  })
  const outcomes = await reserveMany(api, api.tenants.aLive.tenant, [null, 'bob', 'ada'].map(reserveAs))
  const short = { refused: { code: 'COULD_NOT_UPDATE_RESOURCE', message: expect.stringContaining('has 0 open') } }
  expect(outcomes).toMatchObject([short, short, { row: { quantity: '3' } }])
  await empty()
})
