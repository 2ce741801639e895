// Subscriptions that combine: what each of them bills is issued in one FINAL invoice, and what follows from that.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTenant } from '../../../../../shared/database/database.ts'
import { decimal } from '../../../../../shared/decimal.ts'
import { createFailpoints } from '../../../../../shared/failpoint.ts'
import { idOf, newId } from '../../../../../shared/ids.ts'
import { instantOf } from '../../../../../shared/time.ts'
import type { TestTenant } from '../../../../testing/harness.ts'
import { noticesOf } from '../../../../testing/notices.ts'
import type { Row } from '../../../../testing/wire.ts'
import { runBulkAction } from '../../../invoices/bulk-actions/run-bulk-action.ts'
import { linesOfInvoice } from '../../../invoices/lines/store-lines.ts'
import { invoiceProducers } from '../../../modules.ts'
import { BALANCE, linesOf, MONEY, shown, walletsOf } from '../../../wallets/testing/wallets-of.ts'
import { couponedIn } from '../../charges/couponed-charges.ts'
import { advanceChargesIn } from '../../pricing/period-columns.ts'
import { type Billed, billedSubscription, succeed } from '../../testing/billed-subscription.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import { runGroup } from '../group/run-group.ts'
import { loadInvoicesOf } from '../state/subscription-invoices.ts'
import { APRIL, type CombiningRig, FINAL, idsOfBilled, MARCH, START, startCombining } from './testing/combining-rig.ts'

let rig: CombiningRig
let tenant: TestTenant
let of: Awaited<ReturnType<typeof walletsOf>>
beforeAll(async () => {
  rig = await startCombining()
  tenant = rig.tenant
  of = await walletsOf(tenant)
})
afterAll(() => rig?.api.close())

const previewOf = ({ subscriptionId }: Billed, start_at?: string) =>
  succeed(tenant, 'POST', '/v1/invoices/preview', {
    pricing_plan_subscription_id: subscriptionId,
    ...(start_at === undefined ? {} : { start_at }),
  })

describe('subscriptions that combine', () => {
  test('are issued in one invoice, each by its own prices and discounts; tax and wallets are of the whole', async () => {
    const discount = { totals: [{ percentage: '50' }] }
    const all = await rig.subscribed({}, { discount })
    const [one, other] = all
    const wallet = await of.wallet(MONEY, one.customerId)
    await of.grant(wallet, '3', { start_at: START })
    const prepaid = await of.wallet(BALANCE, one.customerId)
    await of.grant(prepaid, '2', { start_at: START })
    await rig.run(all, MARCH)
    expect(await Promise.all(all.map(each => rig.invoicesOf(each, 'OPEN')))).toEqual([
      [expect.objectContaining({ pricing_plan_subscription_ids: [one.subscriptionId] })],
      [expect.objectContaining({ pricing_plan_subscription_ids: [other.subscriptionId] })],
    ])
    await rig.run(all, APRIL)
    const preview = await previewOf(other, '2026-03-10T00:00:00Z')
    // The run of one bills the others with it.
    await rig.run([one], FINAL)
    const final = await rig.finalOf(one)
    expect(shown(preview['invoice'])).toEqual(shown(final))
    expect(preview['invoice']).toMatchObject({
      status: 'DRAFT',
      pricing_plan_subscription_ids: idsOfBilled(all).toSorted(),
      combined_invoice_ids: final['combined_invoice_ids'],
      open_invoice_amount: final['open_invoice_amount'],
    })
    expect(preview['first_invoice'].pricing_plan_subscription_id).toBe(other.subscriptionId)
    expect(await rig.finalOf(other)).toEqual(final)
    expect(final).toMatchObject({
      pricing_plan_subscription_id: null,
      pricing_plan_subscription_ids: idsOfBilled(all).toSorted(),
      period_start: START,
      period_end: '2026-04-01T00:00:00Z',
      wallet_balances: [{ wallet_id: prepaid['id'] }],
    })
    // 4 thousand at 0.50, and at 2 less half; 3 of 6 paid before tax; 21 % of 3; 2 of 3.63 paid after it.
    expect(shown(final).slice(-3)).toEqual(['3.00', '0.63', '3.63'])
    expect(final['open_invoice_amount'].quantity).toBe('1.63')
    expect([await of.balance(wallet), await of.balance(prepaid)]).toEqual(['0 / 0 / 0', '0 / 0 / 0'])
    const parts = (await Promise.all(all.map(each => rig.invoicesOf(each, 'ARCHIVED')))).flat()
    expect(new Set(parts.map(({ id }) => id))).toEqual(new Set(final['combined_invoice_ids']))
    for (const part of parts)
      expect(part).toMatchObject({ invoice_number: null, combined_into_invoice_id: final['id'] })
    for (const each of [final, ...parts])
      expect(await rig.verified(each['id'])).toMatchObject({ identical: true, differences: [] })
    const types = (await noticesOf(rig.api, final['id'])).map(({ type }) => type)
    expect(types).toEqual(['INVOICE.CREATED', 'INVOICE.UPDATED', 'INVOICE.STATUS_TO_FINAL'])
    expect((await tenant.call('GET', `/v1/invoices/${final['id']}/pdf`)).status).toBe(200)
    // Run again: nothing more is issued.
    await rig.run(all, '2026-04-03T00:00:00Z')
    expect(await rig.finalOf(other)).toEqual(final)
  })

  test('of a customer with more than are issued together are issued in several, each of them once', async () => {
    rig.setTime(MARCH)
    rig.tokens = '4000'
    const { subscriptionId, customerId } = await billedSubscription(tenant, {
      start_at: START,
      bands: [{ amount: { quantity: '0.5', currency: 'EUR' }, block_size: { number: '1000' } }],
      subscription: { combine: true },
    })
    const copies = Array.from({ length: 255 }, () => ({ subscription: newId('ppsu'), schedule: newId('ppsc') }))
    const copy = (table: string, where: string, changes: string) =>
      rig.api.sql(
        `insert into ${table} select r.* from ${table} t
         cross join jsonb_to_recordset($1::jsonb) as c(subscription text, schedule text)
         cross join lateral jsonb_populate_record(t, ${changes}) as r where ${where} = $2`,
        [JSON.stringify(copies), subscriptionId],
      )
    await copy('pricing_plan_subscriptions', 't.id', `jsonb_build_object('id', c.subscription)`)
    await copy(
      'pricing_plan_schedules',
      't.pricing_plan_subscription_id',
      `jsonb_build_object('id', c.schedule, 'pricing_plan_subscription_id', c.subscription)`,
    )
    const all = [subscriptionId, ...copies.map(({ subscription }) => subscription)]
    const isEven = (_id: string, place: number) => place % 2 === 0
    const group = async (time: string, members: string[]) => {
      rig.setTime(time)
      const outcomes = await runGroup(rig.deps, tenant.tenant, members)
      expect([...outcomes.values()].filter(outcome => outcome?.kind === 'FAILED')).toEqual([])
    }
    for (const time of [MARCH, APRIL]) for (const from of [0, 128]) await group(time, all.slice(from, from + 128))
    // Every other one: the run bills the rest of both sets with them.
    await group(FINAL, all.filter(isEven))
    const parts = () =>
      rig.api.sql(
        `select count(*)::int as parts, count(distinct p.pricing_plan_subscription_id)::int as subscriptions, v.status,
           v.amount_excluding_tax::text as amount
         from invoices v join invoices p on p.platform_id = v.platform_id and p.environment = v.environment and p.combined_into_id = v.id
         where v.customer_id = $1 group by v.id, v.status, v.amount_excluding_tax order by 1`,
        [customerId],
      )
    const issued = [
      { parts: 6, subscriptions: 6, status: 'FINAL', amount: '12' },
      { parts: 250, subscriptions: 250, status: 'FINAL', amount: '500' },
    ]
    expect(await parts()).toEqual(issued)
    await group(
      FINAL,
      all.filter((id, place) => !isEven(id, place)),
    )
    expect(await parts()).toEqual(issued)
    const finals = await rig.api.sql(`select id from invoices where customer_id = $1 and status = 'FINAL'`, [
      customerId,
    ])
    expect(finals).toHaveLength(2)
    for (const { id } of finals) expect(await rig.verified(id)).toMatchObject({ identical: true })
  })

  test('are issued in one invoice by a bulk action too, and by the next run when that is stopped halfway', async () => {
    const bulk = async (day: unknown, by: BillingDeps = rig.deps): Promise<Row[]> => {
      const finalize_invoices = { invoice_date: String(day).slice(0, 10) }
      const { id } = await succeed(tenant, 'POST', '/v1/bulk-actions', { type: 'FINALIZE_INVOICES', finalize_invoices })
      const own = { database: rig.api.database, producers: invoiceProducers(by) }
      await runBulkAction(own, { tenant: tenant.tenant, id: idOf('bulk', id), last: false })
      return (await succeed(tenant, 'GET', `/v1/bulk-actions/${id}/items?limit=100`))['data']
    }
    const draft = async (one: Billed): Promise<Row> => (await rig.invoicesOf(one, 'DRAFT'))[0] as Row
    const [both, held, stopped] = [await rig.subscribed(), await rig.subscribed(), await rig.subscribed()]
    for (const each of [both, held]) for (const time of [MARCH, APRIL]) await rig.run(each, time)
    const [first, onHold] = [await draft(both[0]), await draft(held[0])]
    await rig.patch(`invoices/${onHold['id']}`, { on_hold: true })
    for (const each of held) {
      const { invoice, first_invoice } = await previewOf(each, START)
      expect(invoice).toEqual(first_invoice)
    }
    const items = await bulk(first['invoice_date'])
    const succeeded = items.filter(({ status }) => status === 'SUCCEEDED').map(each => each['target_resource'].id)
    const final = await rig.finalOf(both[0])
    expect(await rig.finalOf(both[1])).toEqual(final)
    expect(final['combined_invoice_ids']).toHaveLength(2)
    for (const id of final['combined_invoice_ids']) expect(succeeded).toContain(id)
    // One on hold keeps no other waiting.
    expect((await draft(held[0]))['on_hold']).toBe(true)
    expect((await rig.finalOf(held[1]))['combined_invoice_ids'] ?? []).toEqual([])
    for (const time of [MARCH, APRIL]) await rig.run(stopped, time)
    const failing = { ...rig.deps, failpoint: createFailpoints('billing.before-invoice:error') }
    await expect(bulk(first['invoice_date'], failing)).rejects.toThrow('failpoint')
    await rig.run([stopped[1]], '2026-04-01T01:00:01Z')
    expect((await rig.finalOf(stopped[0]))['combined_invoice_ids']).toHaveLength(2)
  })

  test('have each line explained by the prices of its subscription, and stay as they were issued', async () => {
    const all = await rig.subscribed({}, { discount: { totals: [{ percentage: '50' }] } })
    for (const time of [MARCH, APRIL, FINAL]) await rig.run(all, time)
    const final = await rig.finalOf(all[0])
    const explained = await Promise.all(
      linesOf(final).map(line => succeed(tenant, 'GET', `/v1/invoices/${final['id']}/lines/${line['id']}/explanation`)),
    )
    expect(explained.map(each => each['invoice_line_id'])).toEqual(linesOf(final).map(line => line['id']))
    const meters = explained.flatMap(({ usage }) => (usage ? [usage.meter_reference] : []))
    expect(new Set(meters)).toEqual(new Set(all.map(({ meterReference }) => meterReference)))
    const [charge] = linesOf(final)
    const events = await succeed(tenant, 'GET', `/v1/invoices/${final['id']}/lines/${charge?.['id']}/events`)
    expect(events['data']).toEqual([])
    const refused = await tenant.call('GET', `/v1/invoices/${final['id']}/receipt`)
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION', field: 'id' } })
    for (const id of final['combined_invoice_ids']) {
      expect(refused.body['message']).toContain(id)
      expect(await succeed(tenant, 'GET', `/v1/invoices/${id}/receipt`)).toMatchObject({ number_of_events: 0 })
    }
    // Nor is anything taken back: no VOID, no discount in its time, and nothing of what it was made from changes.
    const [one] = all
    const gone = await tenant.call('POST', `/v1/pricing-plan-subscriptions/${one.subscriptionId}/void`)
    expect(gone).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION', resource_id: final['id'] } })
    const schedules = await succeed(
      tenant,
      'GET',
      `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${one.subscriptionId}`,
    )
    const discount = { totals: [{ percentage: '10', start_at: START }] }
    const changed = await tenant.call('PATCH', `/v1/pricing-plan-schedules/${schedules['data'][0].id}`, { discount })
    expect(changed).toMatchObject({
      status: 400,
      body: { code: 'INVALID_FIELD', field: expect.stringMatching(/^discount/) },
    })
    const [part] = await rig.invoicesOf(one, 'ARCHIVED')
    for (const [method, path, body] of [
      ['POST', 'void', {}],
      ['POST', 'credit', {}],
      ['PATCH', '', { status: 'FINAL' }],
      ['PATCH', '', { on_hold: true }],
    ] as const) {
      const answer = await tenant.call(method, `/v1/invoices/${part?.['id']}${path && `/${path}`}`, body)
      expect([path, answer.status, answer.body['code']]).toEqual([path, 400, 'INVALID_OPERATION'])
    }
  })

  test('bill late usage of one of them on its next invoice, which names the invoice that it was too late for', async () => {
    const all = await rig.subscribed()
    for (const time of [MARCH, APRIL, FINAL]) await rig.run(all, time)
    const final = await rig.finalOf(all[0])
    rig.tokens = '6000'
    const late = {
      ...rig.deps,
      usage: {
        ...rig.deps.usage,
        changedSince: async (_of: unknown, asked: Parameters<BillingDeps['usage']['changedSince']>[1]) =>
          asked.map(({ pieces, meterReference }) => pieces.map(() => meterReference === all[1].meterReference)),
      },
    }
    await rig.run(all, '2026-04-03T00:00:00Z', late)
    const lines = async (one: Billed) => (await rig.invoicesOf(one, 'OPEN')).flatMap(linesOf)
    expect((await lines(all[0])).map(line => line['late_for_invoice_id'])).toEqual([undefined])
    const [missed] = (await lines(all[1])).filter(line => line['late_for_invoice_id'])
    expect(missed).toMatchObject({
      late_for_invoice_id: final['id'],
      amount_excluding_tax: { quantity: '4.00', currency: 'EUR' },
    })
    expect((await rig.verified(final['id'])).identical).toBe(false)
  })

  test('refund what one was charged ahead when it ends, and a credit note credits lines of it', async () => {
    const type = await of.walletType(of.CREDITS)
    const credits = { quantity: '9', credit_type_id: of.creditType['id'] }
    const wallet_grants = [{ wallet_type_id: type['id'], credits_grant: { credits } }]
    const all = await rig.subscribed({ fee: '30', feeConfig: { wallet_grants } }, { fee: '60' })
    for (const time of [MARCH, APRIL, FINAL]) await rig.run(all, time)
    const [one, other] = all
    // The opening invoices of both, and those of March with the fees of April.
    const finals = (await rig.invoicesOf(one, 'FINAL')).toSorted((a, b) =>
      a['invoice_date'] < b['invoice_date'] ? -1 : 1,
    )
    expect(finals.map(({ combined_invoice_ids }) => combined_invoice_ids.length)).toEqual([2, 2])
    // What the fees of March and April granted, follows the invoices that charge them.
    const grants = await rig.api.sql(
      `select charge ->> 'invoice_id' as id, reverted_at from wallet_grants where customer_id = $1 order by start_at`,
      [one.customerId],
    )
    expect(grants).toEqual(finals.map(({ id }) => ({ id, reverted_at: null })))
    const april = finals.find(each => linesOf(each).length === 4) as Row
    const refund = { type: 'DATE', cancel_at: '2026-04-16T00:00:00Z', refund_advance_charges: true }
    await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${one.subscriptionId}/cancel`, refund)
    await rig.run(all, '2026-04-16T01:00:00Z')
    const drafts = await rig.invoicesOf(one, 'DRAFT')
    expect(drafts.flatMap(linesOf).map(line => line['amount_excluding_tax'].quantity)).toContain('-15.00')
    // It ends at another moment than the other, so it is issued by itself.
    await rig.run(all, '2026-04-17T01:00:00Z')
    expect(
      (await rig.invoicesOf(one, 'FINAL')).map(({ combined_invoice_ids: of }) => of?.length ?? 0).toSorted(),
    ).toEqual([0, 2, 2])
    expect(await rig.invoicesOf(other, 'FINAL')).toHaveLength(2)
    // What the refund gave back is not credited again; the lines of the other are.
    const url = `/v1/invoices/${april['id']}/credit`
    expect((await tenant.call('POST', url, {})).body['field']).toBe('periods')
    const isOther = (group: Row): boolean => group['pricing_plan_subscription_id'] === other.subscriptionId
    const named = (april['periods'] as Row[]).map(({ period_order, groups }) => ({
      period_order,
      groups: (groups as Row[]).filter(isOther).map(({ group_order }) => ({ group_order })),
    }))
    const periods = named.filter(({ groups }) => groups.length > 0)
    const { id } = await succeed(tenant, 'POST', url, { periods })
    const credit = await rig.patch(`invoices/${id}`, { status: 'FINAL' })
    const others = (april['periods'] as Row[]).flatMap(({ groups }) => (groups as Row[]).filter(isOther))
    const credited = others.map(group => `-${group['amount_including_tax'].quantity}`)
    expect(credit['periods'].map((period: Row) => period['amount_including_tax'].quantity)).toEqual(credited)
  })
})

// A run reads one of them by itself and then both together, and saves nothing of what the two readings say differently.
test('what was charged ahead is read in one order, in whatever order it is stored, with what it counts towards a minimum', async () => {
  const [one] = await rig.subscribed({ fee: '20', feeConfig: { billing_in_advance: true } })
  await rig.run([one], MARCH)
  const kept = [{ key: 'c' }, { key: 'a', counted: ['20', '16.5'] }, { key: 'b' }]
  for (const [place, source] of kept.entries())
    await rig.api.sql(
      `insert into invoice_lines select made.* from invoice_lines l cross join lateral jsonb_populate_record(l,
         jsonb_build_object('line_order', $2::int, 'source', l.source || $3::jsonb)) as made
       where l.pricing_plan_subscription_id = $1 and l.source ->> 'in_advance' = 'true' limit 1`,
      [one.subscriptionId, 100 + place, JSON.stringify(source)],
    )
  const read = await readTenant(rig.api.database, tenant.tenant, uow => loadInvoicesOf(uow, [one.subscriptionId]))
  const [invoice] = (read.get(one.subscriptionId) ?? []).filter(each => each.advance_charges.includes('a'))
  const texts = invoice?.advance_charges ?? []
  expect(texts.filter(text => text.length === 1)).toEqual(['a', 'b', 'c'])
  expect(couponedIn(new Set(texts))).toEqual(new Map([['a', { of: decimal('20'), left: decimal('16.5') }]]))
  // What is read from the table is what the run itself knows of the lines.
  const lines = await readTenant(rig.api.database, tenant.tenant, uow =>
    linesOfInvoice(uow, idOf('invo', String(invoice?.id))),
  )
  const cutoff = instantOf(Date.parse(invoice?.cutoff_at ?? ''))
  expect(advanceChargesIn(lines, cutoff).toSorted()).toEqual(texts.toSorted())
})
