// The cases of corrections (CREDIT_AND_REBILL) whose invoices wallets paid. They share the fixture of
// corrections.it.test.ts.
import { expect, test } from 'vitest'
import type { Billed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import { succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import { expireGrants } from '../../../api/modules/wallets/expiry/expire-grants.ts'
import { compareLedger } from '../../../api/modules/wallets/ledger/compare-ledger.ts'
import { BALANCE, linesOf, MONEY, walletsOf } from '../../../api/modules/wallets/testing/wallets-of.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import type { Database } from '../../../shared/database/database.ts'
import { type EventsRig, ms, START } from './rig.ts'

type Fixture = {
  readonly rig: EventsRig
  readonly tenant: TestTenant
  readonly system: Database
  billed(more?: object): Promise<Billed>
  /** Returns the reference of the event. */
  send(of: Billed, day: string, quantity: string): Promise<string>
  closeMarch(of: Billed): Promise<void>
  billAt(of: Billed, day: string): Promise<void>
  /** March FINAL, its credit notes and its new invoices. */
  booksOf(of: Billed): Promise<Row[]>
  read(row: Row | undefined): Promise<Row>
  finalize(row: Row | undefined): Promise<Row>
  /** Makes it FINAL in a process that dies before it commits. */
  finalizeKilled(id: string): Promise<unknown>
}

/** The first grant of each wallet has expired when March is corrected. */
const EXPIRED = '2026-04-02T12:00:00Z'

export function correctsWhatWalletsPaid(fixture: () => Fixture): void {
  test('wallets get back what they paid, and pay the new invoice: before tax, after tax and in credits, exactly', async () => {
    const { rig, tenant, system, billed, send, closeMarch, billAt, booksOf, read, finalize, finalizeKilled } = fixture()
    const of = await walletsOf(tenant)
    rig.api.clock.set(ms('2026-03-20T00:00:00Z'))
    const inMoney = await billed()
    const credits = { quantity: '1', credit_type_id: of.creditType['id'] }
    const inCredits = await billed({ pricing_type: 'FLAT', bands: [{ credits }] })
    const funded = async (terms: object, customerId: string, grants: readonly string[]) => {
      const wallet = await of.wallet(terms, customerId)
      for (const [index, quantity] of grants.entries())
        await of.grant(wallet, quantity, { start_at: START, expire_at: [EXPIRED, '2027-01-01T00:00:00Z'][index] })
      return wallet
    }
    const wallets = [
      await funded(MONEY, inMoney.customerId, ['30', '40']),
      await funded(BALANCE, inMoney.customerId, ['10', '120']),
      await funded(of.CREDITS, inCredits.customerId, ['100', '2000']),
    ]
    // Balance / reserved / open of each.
    const balances = () => Promise.all(wallets.map(each => of.balance(each)))
    const both = [inMoney, inCredits]
    const gone = await Promise.all(both.map(own => send(own, '2026-03-04T00:00:00Z', '998')))
    await Promise.all(both.map(closeMarch))
    const inMarch = ['0 / 0 / 0', '93.94 / 0 / 93.94', '1102 / 0 / 1102']
    expect(await balances()).toEqual(inMarch)
    await Promise.all(both.map(own => send(own, '2026-03-05T00:00:00Z', '5')))
    await Promise.all(both.map(own => billAt(own, '2026-04-03T00:00:00Z')))
    const books = await Promise.all(both.map(booksOf))
    const [money = [], counted = []] = books
    const linesOn = async (row: Row) => linesOf(await read(row)).map(line => line['amount_excluding_tax'].quantity)
    expect(await Promise.all(money.map(linesOn))).toEqual([
      ['99.80', '-70.00'],
      ['-99.80', '70.00'],
      ['100.24', '-70.00'],
    ])
    expect(await Promise.all(counted.map(linesOn))).toEqual([['0.00'], ['0.00'], ['0.00']])
    // Only what exceeds what comes back is reserved: 30.24 and its tax instead of 29.80 and its tax; 5 credits.
    const drafts = ['0 / 0 / 0', '93.94 / 0.53 / 93.41', '1102 / 5 / 1097']
    expect(await balances()).toEqual(drafts)

    const again = books.flatMap(([, , row]) => row ?? [])
    for (const row of again) {
      await succeed(tenant, 'POST', `/v1/invoices/${row['id']}/refresh`, { types: ['FULL'] })
      await expect(finalizeKilled(String(row['id']))).rejects.toThrow('killed')
    }
    expect(await balances()).toEqual(drafts)
    for (const row of again) await Promise.all([finalize(row), finalize(row)])
    const issued = ['0 / 0 / 0', '93.41 / 0 / 93.41', '1097 / 0 / 1097']
    expect(await balances()).toEqual(issued)
    for (const row of books.flatMap(([march, , row]) => [march, row]))
      expect(await succeed(tenant, 'POST', `/v1/invoices/${row?.['id']}/verify`)).toMatchObject({ identical: true })

    // The new invoice is corrected as its original was. Drafts that are VOID give everything back that they hold.
    for (const reference of gone) await succeed(tenant, 'POST', `/v1/events/${reference}/delete`)
    await rig.aggregator.settle()
    await Promise.all(both.map(own => billAt(own, '2026-04-04T00:00:00Z')))
    const [, , , , least] = await booksOf(inMoney)
    expect(least && (await linesOn(least))).toEqual(['0.50', '-0.50'])
    await succeed(tenant, 'POST', `/v1/invoices/${least?.['id']}/void`)
    expect(await balances()).toEqual(issued)
    const [, , , , fewest] = await booksOf(inCredits)
    await finalize(fewest)
    // 1,003 credits came back, 100 of them expired, and 5 of those 100 are spent again.
    expect((await balances())[2]).toBe('2000 / 0 / 2000')
    expect((await compareLedger(system)).differences).toEqual([])
  })

  test('a grant that was reverted meanwhile pays no more; one that expired pays what it paid, and keeps the rest expired', async () => {
    const { rig, tenant, system, billed, send, closeMarch, billAt, booksOf, read, finalize } = fixture()
    const of = await walletsOf(tenant)
    rig.api.clock.set(ms('2026-03-20T00:00:00Z'))
    const own = await billed()
    const wallet = await of.wallet(MONEY, own.customerId)
    const expired = { start_at: START, expire_at: EXPIRED }
    await of.grant(wallet, '4', expired)
    const { body: second } = await of.grant(wallet, '3', { start_at: START, expire_at: '2027-01-01T00:00:00Z' })
    await send(own, '2026-03-04T00:00:00Z', '20')
    const gone = await send(own, '2026-03-04T01:00:00Z', '50')
    await closeMarch(own)
    await succeed(tenant, 'POST', `/v1/wallet-grants/${second['id']}/revert`)
    await succeed(tenant, 'POST', `/v1/events/${gone}/delete`)
    await rig.aggregator.settle()
    await billAt(own, '2026-04-03T00:00:00Z')
    const [, , again] = await booksOf(own)
    expect(linesOf(await read(again)).map(line => line['amount_excluding_tax'].quantity)).toEqual(['2.00', '-2.00'])
    await finalize(again)
    await expireGrants(rig.api.database, tenant.tenant)
    expect(await of.balance(wallet)).toBe('0 / 0 / 0')
    const { body } = await tenant.call('GET', `/v1/wallets/${wallet['id']}/transactions?limit=100`)
    const moved = body['data']
      .filter((row: Row) => row['created_at'] >= '2026-04-03')
      .map((row: Row) => `${row['type']} ${row['value'].amount.quantity} ${row['cause'].id === again?.['id']}`)
    // 7.00 came back; the new invoice took 2.00 of it, 3.00 is reverted, and 2.00 has expired.
    expect(moved.toSorted()).toEqual([
      'EXPIRED 2 false',
      'RELEASED 3 false',
      'RELEASED 4 false',
      'RESERVED 2 true',
      'REVERTED 3 false',
      'SPENT 2 true',
    ])
    expect((await compareLedger(system)).differences).toEqual([])
  })
}
