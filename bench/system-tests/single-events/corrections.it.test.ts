// CREDIT_AND_REBILL: usage that changes after its invoice is FINAL prepares a credit note and a new invoice in its place,
// once, whatever is killed; nothing is issued by itself, and no number is lost.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rebillProducer } from '../../../api/modules/billing/corrections/rebill-producer.ts'
import type { BillingDeps } from '../../../api/modules/billing/run/compute-invoice.ts'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import { finalizeInvoice } from '../../../api/modules/invoices/changes/finalize-invoice.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { openWorkerDatabase } from '../../../api/testing/worker.ts'
import type { Database } from '../../../shared/database/database.ts'
import { idOf } from '../../../shared/ids.ts'
import { correctsWhatWalletsPaid } from './corrections-of-wallets.ts'
import { type EventsRig, ms, openEventsRig, START, tokensOf } from './rig.ts'

let rig: EventsRig
let tenant: TestTenant
let system: Database
beforeAll(async () => {
  rig = await openEventsRig({ ownDatabase: true })
  system = await openWorkerDatabase(rig.api, 1)
  tenant = rig.tenant
  await setPolicy('CREDIT_AND_REBILL')
})
afterAll(async () => {
  await system?.close()
  await rig?.close()
})

const setPolicy = (late_event_policy: string) =>
  succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { late_event_policy })
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
/** 0.10 each up to 1 000, then 0.08 (semantics 1.4). */
const TIERS = [{ tier_top_bound: { number: '1000' }, amount: eur('0.10') }, { amount: eur('0.08') }]
const TIERED = { pricing_type: 'TIERED', bands: TIERS }

const billAt = async (of: Billed, day: string, more: Partial<BillingDeps> = {}) => {
  rig.api.clock.set(ms(day))
  await runBilling({ ...rig.billing, ...more }, tenant.tenant, of.subscriptionId)
}
const closeMarch = async (of: Billed) => {
  await billAt(of, '2026-04-01T01:00:00Z')
  await billAt(of, '2026-04-02T00:00:00Z')
}
const send = async (of: Billed, day: string, quantity: string): Promise<string> => {
  const reference = rig.reference()
  await rig.send({ ...tokensOf(of, reference), quantity, timestampMs: ms(day), receivedAtMs: rig.api.clock.now() })
  return reference
}
const invoicesOf = async (of: Billed): Promise<Row[]> => {
  const url = `/v1/invoices?pricing_plan_subscription_id=${of.subscriptionId}&order_by=created_at&order_direction=ASC`
  return (await succeed(tenant, 'GET', url))['data']
}
const shown = (row: Row): string => `${row['type']} ${row['status']} ${row['invoice_amount_excluding_tax'].quantity}`
/** March FINAL, its credit note and its new invoice; the OPEN invoice of April is left out. */
const booksOf = async (of: Billed): Promise<Row[]> =>
  (await invoicesOf(of))
    .filter(row => row['status'] !== 'OPEN')
    // A credit note and its new invoice are created at the same time.
    .sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
const placeOf = (row: Row): string => `${row['created_at']} ${row['type']}`
const finalize = (row: Row | undefined) => succeed(tenant, 'PATCH', `/v1/invoices/${row?.['id']}`, { status: 'FINAL' })
const read = (row: Row | undefined) => succeed(tenant, 'GET', `/v1/invoices/${row?.['id']}`)
/** Makes the new invoice of a correction FINAL in a process that dies before it commits. */
const finalizeKilled = (id: string) => {
  const killed = rebillProducer({
    ...rig.billing,
    failpoint: async name => {
      if (name === 'invoices.before-commit') throw new Error('killed')
    },
  })
  const of = { tenant: tenant.tenant, actor: { id: null, requestId: null }, id: idOf('invo', id) }
  return finalizeInvoice({ database: rig.api.database, producers: [killed] }, of)
}
const billed = (more: object = {}) => billedSubscription(tenant, { start_at: START, ...TIERED, ...more })

test('prepares both as drafts, follows later usage, issues both together, and then corrects the new invoice', async () => {
  const own = await billed({ fee: '20' })
  await send(own, '2026-03-04T00:00:00Z', '998')
  await closeMarch(own)
  const late = await send(own, '2026-03-05T00:00:00Z', '5')
  for (let run = 0; run < 3; run += 1) await billAt(own, '2026-04-03T00:00:00Z')
  const prepared = await booksOf(own)
  // The advance fees of March and April are on the first two invoices; the new one has what its original had, and 5 more.
  const [march, note, again] = prepared.filter(row => row['invoice_amount_excluding_tax'].quantity !== '20.00')
  expect([march, note, again].map(row => row && shown(row))).toEqual([
    'STANDARD FINAL 119.80',
    'CREDIT DRAFT -119.80',
    'STANDARD DRAFT 120.24',
  ])
  expect((await read(again))['linked_invoices']).toMatchObject([{ id: march?.['id'], link_type: 'ORIGINAL' }])
  const trace = await succeed(tenant, 'GET', `/v1/events/${late}/event_trace`)
  expect(trace['links']).toMatchObject([{ invoice_id: again?.['id'], invoice_line_id: expect.any(String) }])
  // April is billed as ever, without an entry of March.
  const april = (await invoicesOf(own)).find(row => row['status'] === 'OPEN')
  expect((await read(april))['periods'].map((period: Row) => period['start_at'])).not.toContain(START)

  const gone = await send(own, '2026-03-06T00:00:00Z', '10')
  await billAt(own, '2026-04-04T00:00:00Z')
  expect((await read(again))['invoice_amount_excluding_tax']).toEqual(eur('121.04'))
  expect(await booksOf(own)).toHaveLength(prepared.length)
  await succeed(tenant, 'POST', `/v1/events/${gone}/delete`)
  await rig.aggregator.settle()
  await billAt(own, '2026-04-05T00:00:00Z')

  // The credit note alone would leave what the new invoice charges again unpaid, or not refunded.
  const alone = await tenant.call('PATCH', `/v1/invoices/${note?.['id']}`, { status: 'FINAL' })
  expect(alone).toMatchObject({ status: 400, body: { code: 'INVALID_OPERATION', field: 'status' } })
  const issued = await finalize(again)
  expect(issued).toMatchObject({ invoice_amount_excluding_tax: eur('120.24'), invoice_date: '2026-04-05T00:00:00Z' })
  expect(await read(note)).toMatchObject({ status: 'FINAL', invoice_number: expect.stringMatching(/^CRE/) })
  expect(await read(march)).toMatchObject({ payment_status: 'PAID', open_invoice_amount: eur('0.00') })
  expect(await succeed(tenant, 'POST', `/v1/invoices/${again?.['id']}/verify`)).toMatchObject({ identical: true })
  const [link] = (await succeed(tenant, 'GET', `/v1/events/${late}/event_trace`))['links']
  const events = `/v1/invoices/${again?.['id']}/lines/${link.invoice_line_id}/events`
  expect((await succeed(tenant, 'GET', events))['data'].map((event: Row) => event['reference'])).toContain(late)

  await send(own, '2026-03-07T00:00:00Z', '10')
  for (let run = 0; run < 2; run += 1) await billAt(own, '2026-04-06T00:00:00Z')
  const [, , , second, third] = (await booksOf(own)).filter(
    row => row['invoice_amount_excluding_tax'].quantity !== '20.00',
  )
  expect([second, third].map(row => row && shown(row))).toEqual(['CREDIT DRAFT -120.24', 'STANDARD DRAFT 121.04'])
})

test('less usage gives back, and making either draft VOID withdraws both until usage changes again', async () => {
  const own = await billed()
  const gone = await send(own, '2026-03-04T00:00:00Z', '20')
  await send(own, '2026-03-04T01:00:00Z', '10')
  await closeMarch(own)
  await succeed(tenant, 'POST', `/v1/events/${gone}/delete`)
  await rig.aggregator.settle()
  await billAt(own, '2026-04-03T00:00:00Z')
  const [, note, again] = await booksOf(own)
  expect([note, again].map(row => row && shown(row))).toEqual(['CREDIT DRAFT -3.00', 'STANDARD DRAFT 1.00'])
  await succeed(tenant, 'POST', `/v1/invoices/${note?.['id']}/void`)
  expect(await read(again)).toMatchObject({ status: 'VOID' })
  await billAt(own, '2026-04-03T01:00:00Z')
  expect(await booksOf(own)).toHaveLength(3)
  const late = await send(own, '2026-03-05T00:00:00Z', '7')
  await billAt(own, '2026-04-03T02:00:00Z')
  const [, , , , anew] = await booksOf(own)
  expect(anew && shown(anew)).toBe('STANDARD DRAFT 1.70')
  await succeed(tenant, 'POST', `/v1/invoices/${anew?.['id']}/void`)
  expect((await booksOf(own)).map(row => row['status'])).toEqual(['FINAL', 'VOID', 'VOID', 'VOID', 'VOID'])
  expect(await rig.variantOf(late)).toBe('INVOICE_FINAL')
})

test('killed at every step and run by two at once: one credit note and one new invoice, issued once or not at all', async () => {
  const own = await billed()
  await send(own, '2026-03-04T00:00:00Z', '30')
  await closeMarch(own)
  await send(own, '2026-03-05T00:00:00Z', '10')
  const killedAt = async (point: string) => {
    const failpoint = async (name: string): Promise<void> => {
      if (name === point) throw new Error('killed')
    }
    await expect(billAt(own, '2026-04-03T00:00:00Z', { failpoint })).rejects.toThrow('killed')
    return (await booksOf(own)).map(shown)
  }
  const prepared = ['STANDARD FINAL 3.00', 'CREDIT DRAFT -3.00', 'STANDARD DRAFT 4.00']
  expect(await killedAt('corrections.before-commit')).toEqual(['STANDARD FINAL 3.00'])
  expect(await killedAt('corrections.after-commit')).toEqual(prepared)
  expect(await killedAt('billing.before-invoice')).toEqual(prepared)
  await Promise.all([billAt(own, '2026-04-03T00:00:00Z'), billAt(own, '2026-04-03T00:00:00Z')])
  expect((await booksOf(own)).map(shown)).toEqual(prepared)

  const [, note, again] = await booksOf(own)
  await expect(finalizeKilled(String(again?.['id']))).rejects.toThrow('killed')
  expect((await booksOf(own)).map(shown)).toEqual(prepared)
  const url = (row: Row | undefined) => `/v1/invoices/${row?.['id']}`
  await Promise.all([
    tenant.call('PATCH', url(again), { status: 'FINAL' }),
    tenant.call('PATCH', url(again), { status: 'FINAL' }),
    tenant.call('POST', `${url(note)}/void`),
    tenant.call('POST', `${url(again)}/refresh`, { types: ['FULL'] }),
  ])
  const [, ...both] = await booksOf(own)
  expect(['FINAL FINAL', 'VOID VOID']).toContain(both.map(row => row['status']).join(' '))
  // Each counter gave exactly the numbers that FINAL documents have, so none is lost or used twice.
  const lost = await rig.api.sql(`
    select c.counter_key from invoice_counters c
    where c.platform_id = '${tenant.tenant.platformId}' and c.environment = 'LIVE'
      and c.last_number <> (select count(distinct v.invoice_number) from invoices v where v.platform_id = c.platform_id
        and v.environment = c.environment and (c.counter_key like '%CRE%') = (v.type = 'CREDIT'))`)
  expect(lost).toEqual([])
})

correctsWhatWalletsPaid(() => ({
  rig,
  tenant,
  system,
  billed,
  send,
  closeMarch,
  billAt,
  booksOf,
  read,
  finalize,
  finalizeKilled,
}))

test('an invoice with a credit note of its own stays as it is, and its late usage shows so', async () => {
  const own = await billed()
  await send(own, '2026-03-04T00:00:00Z', '30')
  await closeMarch(own)
  const [march] = await booksOf(own)
  const part = {
    periods: [{ period_order: 0, groups: [{ group_order: 0, lines: [{ line_order: 0, amount: eur('1') }] }] }],
  }
  await succeed(tenant, 'POST', `/v1/invoices/${march?.['id']}/credit`, part)
  const late = await send(own, '2026-03-05T00:00:00Z', '10')
  await billAt(own, '2026-04-03T00:00:00Z')
  expect(await booksOf(own)).toHaveLength(2)
  expect(await rig.variantOf(late)).toBe('INVOICE_FINAL')
  const reason = [{ status: 'WARNING', details: expect.stringContaining('it has a credit note') }]
  expect((await read(march))['validation_result']).toEqual(reason)
  await billAt(own, '2026-04-03T01:00:00Z')
  expect((await read(march))['validation_result']).toEqual(reason)
})

/** The schedule of a coupon of 7.77 on what the usage belongs to. */
const couponed = async (calculationId: string) => {
  const [item] = await rig.api.sql(
    "select product_id from product_items where usage_based ->> 'meter_value_calculation_id' = $1",
    [calculationId],
  )
  const reference = tenant.seed.unique('coupon')
  const coupon = await succeed(tenant, 'POST', '/v1/coupons', {
    ...{ reference, name: reference, status: 'ACTIVE', duration: { type: 'FOREVER' } },
    ...{ discount: { type: 'AMOUNT', amount: eur('7.77') }, limited_to: { product_ids: [item?.['product_id']] } },
  })
  return { coupon_ids: [coupon['id']] }
}

test('late usage that costs nothing asks for no money by a rule that changed since', async () => {
  const own = await billed({ fee: '20', config: { default_included_volume: { number: '100' } }, schedule: couponed })
  await send(own, '2026-03-04T00:00:00Z', '90')
  await closeMarch(own)
  const issued = (await booksOf(own)).map(shown)
  expect(issued).toContain('STANDARD FINAL 12.23')
  // As if the rule of then had deducted more than the rule of now.
  const ids = (await booksOf(own)).map(row => row['id'])
  const changed =
    "update pinned_inputs set inputs = replace(inputs, '7.77', '3.33') where invoice_id = any($1) returning 1"
  expect(await rig.api.sql(changed, [ids])).toHaveLength(ids.length)
  await send(own, '2026-03-05T00:00:00Z', '5')
  await billAt(own, '2026-04-03T00:00:00Z')
  expect((await booksOf(own)).map(shown)).toEqual(issued)
  await send(own, '2026-03-05T00:00:00Z', '25')
  await billAt(own, '2026-04-04T00:00:00Z')
  expect((await booksOf(own)).map(shown)).toEqual([...issued, 'CREDIT DRAFT -12.23', 'STANDARD DRAFT 18.67'])
})

test('late usage that costs something is corrected by the rule of coupons by which the invoice was issued', async () => {
  const own = await billed({ fee: '20', schedule: couponed })
  await send(own, '2026-03-04T00:00:00Z', '200')
  await closeMarch(own)
  // 200 units at 0.10 and the fee of April, less 7.77 once.
  const issued = (await booksOf(own)).map(shown)
  expect(issued).toContain('STANDARD FINAL 32.23')
  // As if it had been issued when the coupon counted for each period on the invoice.
  const march = (await booksOf(own)).find(row => row['invoice_amount_excluding_tax'].quantity === '32.23')
  const past =
    'update pinned_inputs set request = replace(request, \'{"window"\', \'{"rules":{"couponsEachPeriod":true},"window"\') where invoice_id = $1 returning 1'
  expect(await rig.api.sql(past, [march?.['id']])).toHaveLength(1)
  await send(own, '2026-03-05T00:00:00Z', '10')
  await billAt(own, '2026-04-03T00:00:00Z')
  // 21.00 less 7.77, and 20.00 less 7.77; by the rule of now it would be 33.23.
  const [again] = (await booksOf(own)).slice(-1)
  expect(again && shown(again)).toBe('STANDARD DRAFT 25.46')
  expect(await finalize(again)).toMatchObject({ status: 'FINAL', invoice_amount_excluding_tax: eur('25.46') })
  expect(await succeed(tenant, 'POST', `/v1/invoices/${again?.['id']}/verify`)).toMatchObject({ identical: true })
})

test('a period that charged nothing has nothing to credit, so its late usage is on the next invoice', async () => {
  const own = await billed()
  await closeMarch(own)
  await send(own, '2026-03-05T00:00:00Z', '5')
  await billAt(own, '2026-04-03T00:00:00Z')
  const april = (await invoicesOf(own)).find(row => row['status'] === 'OPEN')
  expect(april && shown(april)).toBe('STANDARD OPEN 0.50')
})

test('nor has one whose usage was all included: what exceeds it late is on the next invoice, and is corrected there', async () => {
  const own = await billed({ config: { default_included_volume: { number: '100' } } })
  await send(own, '2026-03-04T00:00:00Z', '90')
  await closeMarch(own)
  const late = await send(own, '2026-03-05T00:00:00Z', '30')
  await billAt(own, '2026-04-03T00:00:00Z')
  expect((await invoicesOf(own)).map(shown)).toEqual(['STANDARD FINAL 0.00', 'STANDARD OPEN 2.00'])
  expect(await rig.variantOf(late)).not.toBe('INVOICE_FINAL')
})

test('what a later invoice has billed meanwhile is not billed by the correction too', async () => {
  const own = await billed()
  await send(own, '2026-03-04T00:00:00Z', '30')
  await closeMarch(own)
  await send(own, '2026-03-05T00:00:00Z', '10')
  await billAt(own, '2026-04-03T00:00:00Z')
  const [, , again] = await booksOf(own)
  await setPolicy('NEXT_INVOICE')
  await billAt(own, '2026-05-01T01:00:00Z')
  await billAt(own, '2026-05-02T00:00:00Z')
  await setPolicy('CREDIT_AND_REBILL')
  const refused = await tenant.call('PATCH', `/v1/invoices/${again?.['id']}`, { status: 'FINAL' })
  expect([refused.status, refused.body['code'], refused.body['field']]).toEqual([400, 'INVALID_OPERATION', 'status'])
  await succeed(tenant, 'POST', `/v1/invoices/${again?.['id']}/void`)
})

test.each<
  [string, { options: object; first: [string, string | null]; late: [string, string | null] }, [string, string]]
>([
  // 20 above what is included, and 25.
  [
    'with included volume',
    { options: { config: { default_included_volume: { number: '100' } } }, first: ['120', null], late: ['5', null] },
    ['2.00', '2.50'],
  ],
  // 1 000 at 0.10 and 3 at 0.08: its share of the group is all of it.
  [
    'in a volume group',
    { options: { config: { volume_group_reference: 'g' } }, first: ['998', null], late: ['5', null] },
    ['99.80', '100.24'],
  ],
  // The late value begins in the first tier.
  ['that is split', { options: {}, first: ['998', 'a'], late: ['5', 'b'] }, ['99.80', '100.30']],
])('corrects a price %s', async (_, { options, first, late }, [issued, corrected]) => {
  const region = tenant.seed.unique('region')
  const isSplit = first[1] !== null
  const config = { split_pricing: { meter_properties: [{ reference: region }] } }
  const own = await billed(isSplit ? { properties: [region], config } : options)
  const use = async (day: string, [quantity, value]: [string, string | null]) =>
    await rig.send({
      ...tokensOf(own, rig.reference()),
      ...{ quantity, timestampMs: ms(day), receivedAtMs: rig.api.clock.now() },
      ...(value === null ? {} : { properties: { [region]: value } }),
    })
  await use('2026-03-04T00:00:00Z', first)
  await closeMarch(own)
  await use('2026-03-05T00:00:00Z', late)
  await billAt(own, '2026-04-03T00:00:00Z')
  const [, , again] = await booksOf(own)
  expect((await booksOf(own)).map(shown)).toEqual([
    `STANDARD FINAL ${issued}`,
    `CREDIT DRAFT -${issued}`,
    `STANDARD DRAFT ${corrected}`,
  ])
  await finalize(again)
  expect(await succeed(tenant, 'POST', `/v1/invoices/${again?.['id']}/verify`)).toMatchObject({ identical: true })
})

test('what is late for a combined invoice is on the next invoice of its subscription, and corrects nothing', async () => {
  const one = await billed({ subscription: { combine: true } })
  const { billing_entity_id } = await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${one.subscriptionId}`)
  const subscription = { combine: true, customer_id: one.customerId, billing_entity_id }
  const other = { ...(await billed({ subscription })), customerReference: one.customerReference }
  await send(one, '2026-03-04T00:00:00Z', '100')
  await send(other, '2026-03-04T00:00:00Z', '50')
  for (const day of ['2026-04-01T01:00:00Z', '2026-04-02T00:00:00Z'])
    for (const each of [one, other]) await billAt(each, day)
  await send(one, '2026-03-05T00:00:00Z', '10')
  for (const each of [one, other]) await billAt(each, '2026-04-03T00:00:00Z')
  const open = async (of: Billed) =>
    (await invoicesOf(of))
      .filter(row => row['status'] !== 'ARCHIVED')
      .map(shown)
      .sort()
  expect([await open(one), await open(other)]).toEqual([
    ['STANDARD FINAL 15.00', 'STANDARD OPEN 1.00'],
    ['STANDARD FINAL 15.00', 'STANDARD OPEN 0.00'],
  ])
})
