// Correcting events through the api: what they measured is replaced under the same reference, for every reader, with the
// history of it, and nothing that is deleted or FINAL moves.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runReprocess } from '../../../api/modules/billing/reprocess/run-reprocess.ts'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import { amendEvent } from '../../../api/modules/ingestion/events/amend-event.ts'
import { invoiceProducers } from '../../../api/modules/modules.ts'
import { expectPayloads } from '../../../api/testing/event-payloads.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import { noticesOf } from '../../../api/testing/notices.ts'
import type { Row } from '../../../api/testing/wire.ts'
import type { EventStore } from '../../../api/usage/event-store.ts'
import { queryUsage } from '../../../api/usage/query-usage.ts'
import { plain } from '../../../shared/decimal.ts'
import { instantOf, interval } from '../../../shared/time.ts'
import { type EventsRig, ms, NOW, openEventsRig, PATHS, START, tokensOf } from './rig.ts'

let rig: EventsRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
})
afterAll(() => rig?.close())

const ofTokens = (of: Billed, number: string) => [{ reference: of.valueReference, number }]
const trace = (name: string) => succeed(tenant, 'GET', `/v1/events/${name}/event_trace`)
const notices = async (name: string) =>
  (await noticesOf(rig.api, rig.idOf(name))).filter(({ environment }) => environment === 'LIVE')

/** A sent event of 1,000 tokens of the rig's subscription. */
async function sent(of: Billed = rig.billed): Promise<string> {
  const name = rig.reference()
  await rig.send(tokensOf(of, name))
  return name
}

async function amend(name: string, number: string, more: object = {}, of: Billed = rig.billed) {
  return await tenant.call('POST', `/v1/events/${name}/amend`, { meter_values: ofTokens(of, number), ...more })
}

describe('an amendment', () => {
  test.each([
    ['by id', (path: string, name: string) => [`${path}/${rig.idOf(name)}/amend`, {}]],
    ['by reference in the path', (path: string, name: string) => [`${path}/${name}/amend`, {}]],
    ['by reference in the body', (path: string, name: string) => [`${path}/amend`, { reference: name }]],
  ] as const)('%s answers the event as it is now, keeps what it was, and goes out as one notice', async (_, callOf) => {
    for (const path of PATHS) {
      const name = await sent()
      const before = await succeed(tenant, 'GET', `/v1/events/${name}`)
      const [url, which] = callOf(path, name)
      const body = { ...Object(which), meter_values: ofTokens(rig.billed, '250.50'), reason: 'sent in cents' }
      const answer = await succeed(tenant, 'POST', String(url), body)
      expect(answer).toEqual({ ...before, meter_values: [{ ...before['meter_values'][0], number: '250.5' }] })
      expect(await succeed(tenant, 'GET', `${path}/${name}`)).toEqual(answer)
      expect((await rig.list(`reference=${name}`))['data']).toEqual([answer])
      const traced = await trace(name)
      expect(traced).toMatchObject({ meter_data: answer, links: [{}] })
      expect(traced['amendments']).toMatchObject([
        {
          reason: 'sent in cents',
          applied: true,
          user_id: expect.stringMatching(/^[a-z]{4}_/),
          request_id: expect.stringMatching(/^reqr_/),
          meter_values: answer['meter_values'],
          previous_meter_values: before['meter_values'],
        },
      ])
      const rows = await notices(name)
      expect(rows).toMatchObject([{ type: 'METER_DATA.UPDATED', data: answer, previous_data: before }])
      await expectPayloads(rig.api, rig.idOf(name), ['METER_DATA.UPDATED'])
      expect(rows[0]).toMatchObject({
        actor_id: traced['amendments'][0].user_id,
        request_id: traced['amendments'][0].request_id,
      })
      // The same again changes nothing: no second entry in the history, no second notice.
      expect(await succeed(tenant, 'POST', String(url), body)).toEqual(answer)
      expect((await trace(name))['amendments']).toHaveLength(1)
      expect(await notices(name)).toHaveLength(1)
    }
  })

  test('moves the usage, from raw rows and from roll-ups, and the next preview', async () => {
    const own = await billedSubscription(tenant, { start_at: START })
    const name = await sent(own)
    await sent(own)
    const usage = async (source: 'RAW' | 'ROLLED') => {
      const [figure] = await queryUsage(rig.aggregator.client, {
        tenant: tenant.tenant,
        customerKeys: [own.customerReference],
        meterReference: own.meterReference,
        interval: interval(instantOf(ms(START)), instantOf(NOW)),
        calculation: { type: 'SUM', valueReference: own.valueReference },
        source,
      })
      return figure && [plain(figure.number), figure.count]
    }
    expect([await usage('RAW'), await usage('ROLLED')]).toEqual([
      ['2000', 2],
      ['2000', 2],
    ])
    await amend(name, '-500', {}, own)
    expect([await usage('RAW'), await usage('ROLLED')]).toEqual([
      ['500', 2],
      ['500', 2],
    ])
    await amend(name, '9000', {}, own)
    const body = { pricing_plan_subscription_id: own.subscriptionId }
    const { invoice } = await succeed(tenant, 'POST', '/v1/invoices/preview', body)
    expect(invoice.invoice_amount_excluding_tax.quantity).toBe('0.15')
  })

  test('an OPEN invoice follows, a FINAL one never changes', async () => {
    const own = await billedSubscription(tenant, { start_at: START })
    const name = rig.reference()
    await rig.send({ ...tokensOf(own, name), quantity: '5000', receivedAtMs: NOW })
    await runBilling(rig.billing, tenant.tenant, own.subscriptionId)
    const url = `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}`
    const [open]: Row[] = (await succeed(tenant, 'GET', url))['data']
    const read = () => succeed(tenant, 'GET', `/v1/invoices/${open?.['id']}`)
    await amend(name, '2000', {}, own)
    await succeed(tenant, 'POST', `/v1/invoices/${open?.['id']}/refresh`, { types: ['FULL'] })
    expect(await read()).toMatchObject({ status: 'OPEN', invoice_amount_excluding_tax: { quantity: '0.03' } })
    rig.api.clock.set(ms('2026-04-02T00:00:00Z'))
    try {
      await runBilling(rig.billing, tenant.tenant, own.subscriptionId)
      const final = await read()
      expect(final).toMatchObject({ status: 'FINAL', invoice_amount_excluding_tax: { quantity: '0.03' } })
      expect((await amend(name, '7000', {}, own)).status).toBe(200)
      await runBilling(rig.billing, tenant.tenant, own.subscriptionId)
      expect(await read()).toEqual(final)
    } finally {
      rig.api.clock.set(NOW)
    }
  })

  test('has the open invoices of the customer computed again, once for several changes', async () => {
    const own = await billedSubscription(tenant, { start_at: START })
    const [name, gone] = [await sent(own), await sent(own)]
    await runBilling(rig.billing, tenant.tenant, own.subscriptionId)
    const [open]: Row[] = (
      await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}`)
    )['data']
    const read = () => succeed(tenant, 'GET', `/v1/invoices/${open?.['id']}`)
    await amend(name, '4000', {}, own)
    await succeed(tenant, 'POST', `/v1/events/${gone}/delete`)
    await amend(name, '5000', {}, own)
    expect(await read()).toMatchObject({
      to_be_reprocessed: true,
      invoice_amount_excluding_tax: { quantity: '0.03' },
    })
    const { data } = await succeed(tenant, 'GET', '/v1/reprocess?type=CUSTOMER&status=SCHEDULED')
    const waiting = data.filter((row: Row) => row['customer'].customer_id === own.customerId)
    expect(waiting).toMatchObject([{ automatic: true, customer: { start_at: '2026-03-04T00:00:00Z' } }])
    await runReprocess(
      { ...rig.billing, producers: invoiceProducers(rig.billing) },
      { tenant: tenant.tenant, id: waiting[0].id, last: false },
    )
    expect(await read()).toMatchObject({
      to_be_reprocessed: false,
      invoice_amount_excluding_tax: { quantity: '0.08' },
    })
  })

  test('of several at once, the last in the log holds, and the history is their order', async () => {
    const name = await sent()
    const numbers = ['1', '2', '3', '4', '5', '6']
    const answers = await Promise.all(numbers.map(number => amend(name, number)))
    expect(answers.map(({ status }) => status)).toEqual(numbers.map(() => 200))
    const { amendments, meter_data } = await trace(name)
    const history = amendments.map((one: Row) => [
      one['previous_meter_values'][0].number,
      one['meter_values'][0].number,
    ])
    expect(history.map(([, after]: [string, string]) => after).toSorted()).toEqual(numbers)
    expect(history.map(([before]: [string, string]) => before)).toEqual([
      '1000',
      ...history.slice(0, -1).map(([, after]: [string, string]) => after),
    ])
    expect(meter_data.meter_values[0].number).toBe(history.at(-1)[1])
    expect(await notices(name)).toHaveLength(numbers.length)
  })

  test('leaves properties that are not given, and what is sent again stays a duplicate of the first', async () => {
    const { meter, properties, values } = await propertiedMeter()
    const name = rig.reference()
    const event = { reference: name, meterReference: meter, valueReference: values[0] ?? '' }
    await rig.send({ ...event, properties: { [properties[0] ?? '']: 'small' } })
    const call = (body: object) => succeed(tenant, 'POST', `/v1/events/${name}/amend`, body)
    const meter_values = [{ reference: values[0], number: '7' }]
    const shown = (view: Row) => view['meter_properties'].map((one: Row) => [one['reference'], one['value']])
    expect(shown(await call({ meter_values }))).toEqual([[properties[0], 'small']])
    const large = await call({ meter_values, meter_properties: [{ reference: properties[0], value: 'large' }] })
    expect(shown(large)).toEqual([[properties[0], 'large']])
    expect(shown(await call({ meter_values: [{ reference: values[0], number: '8' }] }))).toEqual([
      [properties[0], 'large'],
    ])
    await rig.send({ ...event, properties: { [properties[0] ?? '']: 'small' } })
    const { data } = await rig.list(`reference=${name}`)
    expect(data).toMatchObject([
      { processed_details: { duplicate: null }, meter_values: [{ number: '8' }] },
      {
        processed_details: { type: 'DUPLICATE', duplicate: { content_differs: false } },
        meter_values: [{ number: '1' }],
      },
    ])
  })

  /** A meter with a required NUMBER and an AMOUNT, an ENUM, a NUMBER and a STRING. */
  async function propertiedMeter() {
    const post = (url: string, body: object) => succeed(tenant, 'POST', `/v1/${url}`, { ...body, status: 'ACTIVE' })
    const { unique } = tenant.seed
    const values = [unique('tokens'), unique('cost')]
    const properties = [unique('size'), unique('weight'), unique('note')]
    for (const [index, type] of ['NUMBER', 'AMOUNT'].entries())
      await post('meter-values', { reference: values[index], name: 'v', type })
    for (const [index, type] of ['ENUM', 'NUMBER', 'STRING'].entries()) {
      const enumeration = type === 'ENUM' ? { enum_values: ['small', 'large'] } : {}
      await post('meter-properties', { reference: properties[index], name: 'p', type, ...enumeration })
    }
    const meter = unique('meter')
    await post('meters', {
      reference: meter,
      meter_values: values.map((reference, index) => ({ reference, required: index === 0 })),
      meter_properties: properties.map(reference => ({ reference })),
    })
    return { meter, values, properties }
  }

  test("keeps to its meter's rules, also when the meter takes no more events", async () => {
    const { meter, values, properties } = await propertiedMeter()
    const name = rig.reference()
    await rig.send({ reference: name, meterReference: meter, valueReference: values[0] ?? '' })
    const number = { reference: values[0], number: '7' }
    const refused: [object, string, string][] = [
      [{}, 'MISSING_FIELD', 'meter_values'],
      [{ meter_values: [] }, 'MISSING_FIELD', 'meter_values'],
      [{ meter_values: [{ number: '1' }] }, 'MISSING_FIELD', 'meter_values.0.reference'],
      [{ meter_values: [{ ...number, number: '1e3' }] }, 'INVALID_FIELD', 'meter_values.0.number'],
      [{ meter_values: [{ ...number, number: null }] }, 'MISSING_FIELD', 'meter_values.0.number'],
      [{ meter_values: [number, number] }, 'INVALID_FIELD', 'meter_values.1.reference'],
      [{ meter_values: [number, { reference: 'other', number: '1' }] }, 'INVALID_FIELD', 'meter_values.1.reference'],
      [{ meter_values: [number, { reference: values[1], number: '1' }] }, 'INVALID_FIELD', 'meter_values.1.number'],
      [
        { meter_values: [number], meter_properties: [{ reference: properties[0], value: 'x' }] },
        'INVALID_FIELD',
        'meter_properties.0.value',
      ],
      [
        { meter_values: [number], meter_properties: [{ reference: properties[1], value: 'x' }] },
        'INVALID_FIELD',
        'meter_properties.0.value',
      ],
      [{ meter_values: [number], timestamp: START }, 'INVALID_FIELD', 'timestamp'],
      [{ meter_values: [number], customer_reference: 'x' }, 'INVALID_FIELD', 'customer_reference'],
      [{ meter_values: [number], reason: 'x'.repeat(1_001) }, 'INVALID_FIELD', 'reason'],
    ]
    for (const [body, code, field] of refused) {
      const answer = await tenant.call('POST', `/v1/events/${name}/amend`, body)
      expect([answer.status, answer.body['code'], answer.body['field']]).toEqual([400, code, field])
    }
    expect((await trace(name))['amendments']).toEqual([])
    await succeed(tenant, 'PATCH', `/v1/meters/${meter}`, { status: 'DEPRECATED' })
    const amount = { quantity: '2.50', currency: 'EUR' }
    const amended = await succeed(tenant, 'POST', `/v1/events/${name}/amend`, {
      meter_values: [{ reference: values[1], amount }, number],
    })
    expect(amended['meter_values']).toMatchObject([
      { reference: values[0], number: '7' },
      { reference: values[1], amount: { quantity: '2.5', currency: 'EUR' } },
    ])
  })

  test('is refused for a deleted event, unknown to other tenants, and 404 for what nobody sent', async () => {
    const name = await sent()
    for (const other of [rig.api.tenants.aTest, rig.api.tenants.bLive]) {
      for (const path of PATHS) {
        const body = { meter_values: ofTokens(rig.billed, '1') }
        expect((await other.call('POST', `${path}/${rig.idOf(name)}/amend`, body)).status).toBe(404)
        expect((await other.call('POST', `${path}/amend`, { ...body, reference: name })).status).toBe(404)
      }
    }
    expect((await amend(rig.reference(), '1')).body).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    await succeed(tenant, 'POST', `/v1/events/${name}/delete`)
    const late = await amend(name, '1')
    expect([late.status, late.body['code']]).toEqual([409, 'COULD_NOT_UPDATE_RESOURCE'])
    expect(await succeed(tenant, 'GET', `/v1/events/${name}`)).toMatchObject({
      deleted: true,
      meter_values: [{ number: '1000' }],
    })
    expect((await trace(name))['amendments']).toEqual([])
  })

  test('that comes into the log after a deletion is refused, and kept as not applied', async () => {
    const name = await sent()
    const idHash = rig.idOf(name).slice(5)
    await rig.stopAggregator()
    try {
      await rig.log.publishDeletion({ ...tenant.tenant, idHash, receivedAtMs: rig.api.clock.now() })
      const answer = amend(name, '1')
      await rig.startAggregator()
      expect((await answer).body).toMatchObject({ code: 'COULD_NOT_UPDATE_RESOURCE' })
    } finally {
      await rig.startAggregator()
    }
    const { meter_data, amendments } = await trace(name)
    expect(meter_data).toMatchObject({ deleted: true, meter_values: [{ number: '1000' }] })
    expect(amendments).toMatchObject([{ applied: false, meter_values: [{ number: '1' }] }])
    expect(await notices(name)).toEqual([])
  })

  test('that is asked again while it is being stored is the same one', async () => {
    // The event is read, and then its history: what is stored between the two must not be taken for somebody else's.
    const name = await sent()
    const { events } = rig
    let behind = 0
    const find: EventStore['find'] = async (...of) => {
      const event = await events.find(...of)
      behind += 1
      // The first read is answered late, by what the event was.
      if (behind === 1) await amend(name, '6')
      return event
    }
    const deps = { database: rig.api.database, events: { ...events, find } }
    const context = { tenant: tenant.tenant, actor: { id: null, requestId: null } }
    const again = await amendEvent(deps, context, {
      idOrReference: name,
      amendment: { meter_values: ofTokens(rig.billed, '6') },
    })
    expect(again.meter_values[0]?.number).toBe('6')
    expect(behind).toBeGreaterThan(1)
    expect((await trace(name))['amendments']).toHaveLength(1)
    expect(await notices(name)).toHaveLength(1)
  })

  test('waits for what was accepted a moment ago; 503 while nothing is processed, and the same call later is the same one', async () => {
    const fresh = rig.reference()
    await rig.publish(tokensOf(rig.billed, fresh))
    expect((await amend(fresh, '5')).body['meter_values'][0].number).toBe('5')
    await rig.stopAggregator()
    try {
      const early = await Promise.all([amend(fresh, '6'), amend(fresh, '6')])
      for (const answer of early) {
        expect([answer.status, answer.body['code']]).toEqual([503, 'SERVICE_UNAVAILABLE'])
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      }
    } finally {
      await rig.startAggregator()
    }
    expect((await amend(fresh, '6')).body['meter_values'][0].number).toBe('6')
    expect((await trace(fresh))['amendments']).toHaveLength(2)
    expect(await notices(fresh)).toHaveLength(2)
  })
})
