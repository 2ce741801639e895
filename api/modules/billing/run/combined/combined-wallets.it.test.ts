// What wallets pay of invoices that are issued together, and of several subscriptions of one customer.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decimal, plain } from '../../../../../shared/decimal.ts'
import { BALANCE, MONEY, walletsOf } from '../../../wallets/testing/wallets-of.ts'
import { APRIL, type CombiningRig, FINAL, MARCH, START, startCombining } from './testing/combining-rig.ts'

let rig: CombiningRig
let of: Awaited<ReturnType<typeof walletsOf>>
beforeAll(async () => {
  rig = await startCombining()
  of = await walletsOf(rig.tenant)
})
afterAll(() => rig?.api.close())

test('what is combined spends of wallets what can pay in the time of each, and what pays after tax in the time of all', async () => {
  const [one, other] = await rig.subscribed({}, {}, '2026-03-15T00:00:00Z')
  const wallet = await of.wallet(MONEY, one.customerId)
  // It ends before the second one starts.
  await of.grant(wallet, '5', { start_at: START, expire_at: '2026-03-12T00:00:00Z' })
  await of.grant(wallet, '6', { start_at: START })
  await rig.run([one, other], '2026-03-16T00:00:00Z')
  await rig.run([one, other], APRIL)
  await rig.run([one, other], FINAL)
  const final = await rig.finalOf(one)
  expect(await rig.finalOf(other)).toEqual(final)
  // 2 of the one and 6 of the other, whose 8 would all be paid without that.
  const spent = await rig.api.sql(
    `select g.expire_at is not null as ends, sum(e.quantity)::text as spent from wallet_entries e
      join wallet_grants g on g.id = e.grant_id where e.wallet_id = $1 and e.type = 'SPENT' group by 1 order by 1`,
    [wallet['id']],
  )
  expect(spent.map(({ ends, spent: quantity }) => [ends, plain(decimal(quantity))])).toEqual([
    [false, '6'],
    [true, '2'],
  ])
})

test.each([
  ['together', {}],
  ['each by itself', { subscription: { combine: false } }],
])('issued invoices are paid before money is reserved for OPEN ones: %s', async (_how, options) => {
  const all = await rig.subscribed(options, options)
  const [one] = all
  const wallet = await of.wallet(BALANCE, one.customerId)
  await rig.run(all, MARCH)
  await rig.run(all, APRIL)
  // 2 and 8 with 21 % tax are 12.10, of March, and of April so far.
  await of.grant(wallet, '13', { start_at: START })
  await rig.run(all, FINAL)
  const finals = new Map(
    (await Promise.all(all.map(each => rig.invoicesOf(each, 'FINAL')))).flat().map(each => [each['id'], each]),
  )
  expect([...finals.values()].map(each => each['open_invoice_amount'].quantity)).toEqual([...finals].map(() => '0.00'))
  expect(await of.balance(wallet)).toBe('0.9 / 0.9 / 0')
})

test('what is issued together is paid from the grants of its time before a later invoice reserves them', async () => {
  const fee = { fee: '12' }
  const all = await rig.subscribed(fee, fee)
  const [one] = all
  const wallet = await of.wallet(MONEY, one.customerId)
  await of.grant(wallet, '60', { start_at: START })
  // For what is billed from then on alone.
  await of.grant(wallet, '40', { start_at: APRIL })
  for (const time of [MARCH, APRIL, FINAL]) {
    const outcomes = await rig.run(all, time)
    expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['DONE', 'DONE'])
  }
  // 24 of the opening invoices and 34 of March are paid; 34 are held for April so far.
  expect(await of.balance(wallet)).toBe('42 / 34 / 8')
  const finals = await rig.invoicesOf(one, 'FINAL')
  expect(finals.map(each => each['invoice_amount_excluding_tax'].quantity)).toEqual(['0.00', '0.00'])
})
