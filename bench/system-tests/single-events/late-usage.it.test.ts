// Usage that comes after its invoice is FINAL: it is on the next invoice of the subscription, once, in an entry of its own
// time; or, where the platform says so, it is kept and shown as not billed. The trace says which.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, NOW, openEventsRig, START, tokensOf } from './rig.ts'

let rig: EventsRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
})
afterAll(() => rig?.close())
afterEach(async () => {
  rig.api.clock.set(NOW)
  await setPolicy('NEXT_INVOICE')
})

const setPolicy = (late_event_policy: string) =>
  succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { late_event_policy })
const eur = (quantity: string) => ({ quantity, currency: 'EUR' })
/** 0.10 each up to 1 000, then 0.08 (semantics 1.4). */
const TIERS = [{ tier_top_bound: { number: '1000' }, amount: eur('0.10') }, { amount: eur('0.08') }]
const TIERED = { pricing_type: 'TIERED', bands: TIERS }

const billAt = async (of: Billed, day: string) => {
  rig.api.clock.set(ms(day))
  await runBilling(rig.billing, tenant.tenant, of.subscriptionId)
}
/** Makes March FINAL: DRAFT first, and FINAL once the time in which it can still be looked at is over. */
const closeMarch = async (of: Billed) => {
  await billAt(of, '2026-04-01T01:00:00Z')
  await billAt(of, '2026-04-02T00:00:00Z')
}
const invoicesOf = async (of: Billed): Promise<Row[]> => {
  const url = `/v1/invoices?pricing_plan_subscription_id=${of.subscriptionId}&order_by=created_at&order_direction=ASC`
  const { data } = await succeed(tenant, 'GET', url)
  const whole = await Promise.all(data.map((row: Row) => succeed(tenant, 'GET', `/v1/invoices/${row['id']}`)))
  return whole.sort((a, b) => (a['period_start'] < b['period_start'] ? -1 : 1))
}
/** `status start..end amount, …` of every entry of an invoice. */
const shown = (invoice: Row | undefined): string =>
  `${invoice?.['status']} ${invoice?.['periods']
    .map(
      (period: Row) =>
        `${period['start_at'].slice(5, 10)}..${period['end_at'].slice(5, 10)} ${period['amount_excluding_tax'].quantity}`,
    )
    .join(', ')}`
const send = async (of: Billed, day: string, quantity: string): Promise<string> => {
  const reference = rig.reference()
  await rig.send({ ...tokensOf(of, reference), quantity, timestampMs: ms(day), receivedAtMs: rig.api.clock.now() })
  return reference
}
const linksOf = async (reference: string): Promise<Row[]> =>
  (await succeed(tenant, 'GET', `/v1/events/${reference}/event_trace`))['links']
const linesIn = (invoice: Row | undefined): Row[] =>
  (invoice?.['periods'] ?? []).flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))
/** The line an event's trace names, from the invoice it names. */
const lineOf = async (reference: string): Promise<Row | undefined> => {
  const [link] = await linksOf(reference)
  const invoice = await succeed(tenant, 'GET', `/v1/invoices/${link?.['invoice_id']}`)
  return linesIn(invoice).find(line => line['id'] === link?.['invoice_line_id'])
}

test('the platform says it under either of two names', async () => {
  const url = `/v1/platforms/${tenant.tenant.platformId}`
  const flag = (value: boolean | null) => ({
    processing_settings: { put_after_invoice_final_on_next_invoice: value },
  })
  expect(await succeed(tenant, 'GET', url)).toMatchObject({ late_event_policy: 'NEXT_INVOICE', ...flag(true) })
  const rows: [object, string][] = [
    [flag(false), 'NOT_MATCHED'],
    [{ late_event_policy: 'NEXT_INVOICE' }, 'NEXT_INVOICE'],
    [{ late_event_policy: 'NOT_MATCHED' }, 'NOT_MATCHED'],
    [flag(null), 'NEXT_INVOICE'],
    [{ late_event_policy: 'NOT_MATCHED' }, 'NOT_MATCHED'],
    [{ late_event_policy: null }, 'NEXT_INVOICE'],
  ]
  for (const [patch, late_event_policy] of rows) {
    const expected = { late_event_policy, ...flag(late_event_policy === 'NEXT_INVOICE') }
    expect(await succeed(tenant, 'PATCH', url, patch)).toMatchObject(expected)
    expect(await succeed(tenant, 'GET', url)).toMatchObject(expected)
  }
  await setPolicy('CREDIT_AND_REBILL')
  // The flag knows two of the three, so that only a change of it changes the policy.
  for (const patch of [{ description: 'Tokens.' }, flag(false)])
    expect(await succeed(tenant, 'PATCH', url, patch)).toMatchObject({
      late_event_policy: 'CREDIT_AND_REBILL',
      ...flag(false),
    })
  expect(await succeed(tenant, 'PATCH', url, flag(true))).toMatchObject({ late_event_policy: 'NEXT_INVOICE' })
})

describe('usage of March that comes in April', () => {
  test('is on the invoice of April, in an entry of March, for what the whole of March costs more', async () => {
    const own = await billedSubscription(tenant, { start_at: START, ...TIERED })
    const early = await send(own, '2026-03-04T00:00:00Z', '998')
    await closeMarch(own)
    const [march, april] = await invoicesOf(own)
    expect([shown(march), shown(april)]).toEqual(['FINAL 03-01..04-01 99.80', 'OPEN '])

    const late = await send(own, '2026-03-05T00:00:00Z', '5')
    const april5 = await send(own, '2026-04-01T00:00:00Z', '10')
    await billAt(own, '2026-04-02T01:00:00Z')
    const [same, next] = await invoicesOf(own)
    expect(same).toEqual(march)
    // 2 at 0.10 and 3 at 0.08, then 10 of April from its own first tier.
    expect(shown(next)).toBe('OPEN 03-01..04-01 0.44, 04-01..05-01 1.00')
    const [line] = linesIn(next)
    expect(line).toMatchObject({
      // What is printed is what the line bills; the details have the whole of March.
      meter_value: { number: '5', count: '1' },
      late_for_invoice_id: march?.['id'],
      details: {
        meter_value: { number: '1003', count: '2' },
        previously_billed: { pricing_amount: eur('99.8'), meter_value: { number: '998' } },
      },
    })
    expect(await rig.variantOf(late)).toBe('DEFAULT')
    expect(await lineOf(early)).toMatchObject({ meter_value: { number: '998' } })
    expect(await lineOf(late)).toMatchObject({ late_for_invoice_id: march?.['id'], meter_value: { number: '5' } })
    expect(await lineOf(april5)).toMatchObject({ meter_value: { number: '10' } })

    // Nothing more comes of it, however often it is run, and what comes later still is on the invoice after.
    await billAt(own, '2026-05-01T01:00:00Z')
    await billAt(own, '2026-05-02T00:00:00Z')
    const later = await send(own, '2026-03-06T00:00:00Z', '10')
    for (let run = 0; run < 3; run += 1) await billAt(own, '2026-05-02T01:00:00Z')
    expect((await invoicesOf(own)).map(shown)).toEqual([
      'FINAL 03-01..04-01 99.80',
      'FINAL 03-01..04-01 0.44, 04-01..05-01 1.00',
      'OPEN 03-01..04-01 0.80',
    ])
    const [, , may] = await invoicesOf(own)
    expect([await linksOf(late), await linksOf(later)].map(([link]) => link?.['invoice_id'])).toEqual([
      next?.['id'],
      may?.['id'],
    ])
    expect(await lineOf(late)).toMatchObject({ meter_value: { number: '5' } })
    expect(await lineOf(later)).toMatchObject({ meter_value: { number: '10' } })
  })

  test('whatever runs, crashes or arrives while invoices close, every event is asked for once', async () => {
    const own = await billedSubscription(tenant, { start_at: START, ...TIERED })
    await send(own, '2026-03-04T00:00:00Z', '900')
    await billAt(own, '2026-04-01T01:00:00Z')
    rig.api.clock.set(ms('2026-04-02T00:00:00Z'))
    let left = 3
    const failpoint = async (name: string) => {
      if (name === 'invoices.before-commit' && left-- > 0) throw new Error('killed')
    }
    const run = () =>
      runBilling({ ...rig.billing, failpoint }, tenant.tenant, own.subscriptionId).catch((error: Error) => {
        if (error.message !== 'killed') throw error
      })
    const sent: Promise<string>[] = []
    for (let round = 0; round < 4; round += 1) {
      sent.push(send(own, '2026-03-05T00:00:00Z', '40'))
      await Promise.all([run(), run()])
    }
    const references = await Promise.all(sent)
    for (const day of ['2026-05-01T01:00:00Z', '2026-05-02T00:00:00Z', '2026-05-02T01:00:00Z']) {
      rig.api.clock.set(ms(day))
      await Promise.all([run(), run()])
    }
    const lines = (await invoicesOf(own)).flatMap(linesIn)
    const cents = lines.reduce((sum, line) => sum + Math.round(Number(line['amount_excluding_tax'].quantity) * 100), 0)
    expect(cents).toBe(1000 * 10 + 60 * 8)
    for (const reference of references) expect(await lineOf(reference)).toBeDefined()
  })

  test('a price that is billed by the quarter is not late while its quarter is open', async () => {
    const config = { billing_period: { type: 'MONTH', value: 3 } }
    const own = await billedSubscription(tenant, { start_at: '2026-02-01T00:00:00Z', ...TIERED, config, fee: '1' })
    await send(own, '2026-02-04T00:00:00Z', '10')
    await billAt(own, '2026-03-01T01:00:00Z')
    await billAt(own, '2026-03-02T00:00:00Z')
    const more = await send(own, '2026-02-05T00:00:00Z', '5')
    await setPolicy('NOT_MATCHED')
    expect((await linksOf(more)).map(link => link['invoice_id'])).toEqual([null])
    expect(await rig.variantOf(more)).toBe('DEFAULT')
    await billAt(own, '2026-04-01T01:00:00Z')
    await billAt(own, '2026-04-02T00:00:00Z')
    const closing = (await invoicesOf(own)).find(invoice => shown(invoice).includes('1.50'))
    expect((await linksOf(more)).map(link => link['invoice_id'])).toEqual([closing?.['id']])
    const late = await send(own, '2026-02-06T00:00:00Z', '5')
    expect(await rig.variantOf(late)).toBe('INVOICE_FINAL')
  })

  test('usage priced in credits has the quarter of the item that sells the credits, also where a price of the schedule sells them', async () => {
    const { id: credit_type_id } = await post('credit-types', { reference: tenant.seed.unique('credits'), name: 'C' })
    const own = await billedSubscription(tenant, {
      start_at: '2026-02-01T00:00:00Z',
      bands: [{ credits: { quantity: '1', credit_type_id } }],
      schedule: async () => ({ pricing_categories: [{ pricings: [await quarterlyCredits(credit_type_id)] }] }),
    })
    const used = await send(own, '2026-02-04T00:00:00Z', '10')
    const invoice = async () => (await linksOf(used)).map(link => link['invoice_id'])
    expect(await invoice()).toEqual([null])
    for (const day of ['2026-03-01T01:00:00Z', '2026-03-02T00:00:00Z']) await billAt(own, day)
    expect(await invoice()).toEqual([null])
    for (const day of ['2026-04-01T01:00:00Z', '2026-04-02T00:00:00Z']) await billAt(own, day)
    const closing = (await invoicesOf(own)).find(({ status }) => status === 'FINAL')
    expect(await invoice()).toEqual([closing?.['id']])
  })

  test('with NOT_MATCHED it is kept and on no invoice, until the platform wants it', async () => {
    const own = await billedSubscription(tenant, { start_at: START, ...TIERED })
    await send(own, '2026-03-04T00:00:00Z', '10')
    await closeMarch(own)
    await setPolicy('NOT_MATCHED')
    const late = await send(own, '2026-03-05T00:00:00Z', '5')
    await billAt(own, '2026-04-02T01:00:00Z')
    expect((await invoicesOf(own)).map(shown)).toEqual(['FINAL 03-01..04-01 1.00', 'OPEN '])
    expect([await rig.variantOf(late), await linksOf(late)]).toEqual(['INVOICE_FINAL', []])
    await setPolicy('NEXT_INVOICE')
    await billAt(own, '2026-04-02T02:00:00Z')
    expect((await invoicesOf(own)).map(shown)).toEqual(['FINAL 03-01..04-01 1.00', 'OPEN 03-01..04-01 0.50'])
    expect(await lineOf(late)).toMatchObject({ meter_value: { number: '5' } })
  })

  test('a period that had no usage, and so no number, asks for all of it', async () => {
    const own = await billedSubscription(tenant, { start_at: START, ...TIERED })
    await closeMarch(own)
    const late = await send(own, '2026-03-05T00:00:00Z', '5')
    await billAt(own, '2026-04-02T01:00:00Z')
    expect((await invoicesOf(own)).map(shown)).toEqual(['ARCHIVED ', 'OPEN 03-01..04-01 0.50'])
    expect(await lineOf(late)).toMatchObject({ meter_value: { number: '5' } })
  })

  test('what is deleted or corrected to less after FINAL gives nothing back, and is made up for before more is asked', async () => {
    const own = await billedSubscription(tenant, { start_at: START, ...TIERED })
    const gone = await send(own, '2026-03-04T00:00:00Z', '20')
    const corrected = await send(own, '2026-03-04T01:00:00Z', '10')
    await closeMarch(own)
    await succeed(tenant, 'POST', `/v1/events/${gone}/delete`)
    await billAt(own, '2026-04-02T01:00:00Z')
    expect((await invoicesOf(own)).map(shown)).toEqual(['FINAL 03-01..04-01 3.00', 'OPEN '])
    await send(own, '2026-03-05T00:00:00Z', '15')
    await billAt(own, '2026-04-02T02:00:00Z')
    expect((await invoicesOf(own)).map(shown)).toEqual(['FINAL 03-01..04-01 3.00', 'OPEN '])
    const amendment = { meter_values: [{ reference: own.valueReference, number: '17' }] }
    await succeed(tenant, 'POST', `/v1/events/${corrected}/amend`, amendment)
    await billAt(own, '2026-04-02T03:00:00Z')
    expect((await invoicesOf(own)).map(shown)).toEqual(['FINAL 03-01..04-01 3.00', 'OPEN 03-01..04-01 0.20'])
  })
})

const post = (url: string, body: object): Promise<Row> => succeed(tenant, 'POST', `/v1/${url}`, body)

/** A pricing that sells these credits by the quarter. */
async function quarterlyCredits(credit_type_id: string): Promise<Row> {
  const named = (of: string) => ({ reference: tenant.seed.unique(of), name: of, status: 'ACTIVE' })
  const { id: product_id } = await post('products', named('product'))
  const item = { ...named('item'), product_id, model_type: 'CREDITS', credits: { credit_type_id } }
  const { id } = await post('product-items', item)
  const bands = [{ amount: { quantity: '0.05', currency: 'EUR' } }]
  const config = { pricing_type: 'FLAT', bands, billing_period: { type: 'MONTH', value: 3 } }
  return { product_ids: [product_id], items: [{ product_item_ids: [id], configs: [config] }] }
}
