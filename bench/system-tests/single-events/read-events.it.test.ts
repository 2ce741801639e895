// Single events through the api, with everything behind it: read, listed and traced, and by nobody but their tenant.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { createEventStore } from '../../../api/usage/event-store.ts'
import { freePort } from '../../../infra/services/child.ts'
import { createClickHouse } from '../../../shared/usage/clickhouse.ts'
import { type EventsRig, ms, openEventsRig, PATHS, START, tokensOf } from './rig.ts'

let rig: EventsRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
})
afterAll(() => rig?.close())

describe('reading', () => {
  test.each(PATHS)('%s/{id} gives an event by its id and by its reference, whole', async path => {
    const name = rig.reference()
    const timestampMs = ms('2026-03-05T10:00:00Z')
    await rig.send({ reference: name, timestampMs, quantity: '1.5', properties: { region: 'eu' } })
    const view = await succeed(tenant, 'GET', `${path}/${name}`)
    expect(view).toEqual({
      object_type: 'METER_DATA',
      id: rig.idOf(name),
      reference: name,
      type: 'INGEST',
      customer_id: rig.billed.customerId,
      customer_reference: rig.billed.customerReference,
      meter_id: expect.stringMatching(/^[a-z]{4}_/),
      meter_reference: rig.billed.meterReference,
      pricing_plan_subscription_id: null,
      pricing_plan_subscription_reference: null,
      pricing_plan_subscription_selector: null,
      timestamp: '2026-03-05T10:00:00Z',
      created_at: expect.stringMatching(/Z$/),
      meter_values: [{ id: null, reference: 'tokens', number: '1.5', amount: null }],
      meter_properties: [{ id: null, reference: 'region', value: 'eu' }],
      processed_details: { type: 'DEFAULT', duplicate_of_meter_data_id: null, duplicate: null, not_matched: null },
      deleted: false,
    })
    expect(await succeed(tenant, 'GET', `${path}/${view['id']}`)).toEqual(view)
    const expanded = await succeed(tenant, 'GET', `${path}/${name}?expand[]=customer`)
    expect(expanded['customer']).toMatchObject({ object_type: 'CUSTOMER', id: rig.billed.customerId })
  })

  test('no other tenant finds it by its id, in a list or to delete', async () => {
    const name = rig.reference()
    await rig.send({ reference: name })
    const id = rig.idOf(name)
    for (const other of [rig.api.tenants.aTest, rig.api.tenants.bLive, rig.api.tenants.bTest]) {
      for (const path of PATHS) {
        expect((await other.call('GET', `${path}/${id}`)).status).toBe(404)
        expect((await other.call('POST', `${path}/${id}/delete`)).status).toBe(404)
        expect((await other.call('POST', `${path}/delete`, { reference: name })).status).toBe(404)
        expect((await other.call('GET', `${path}?reference=${name}`)).body['data']).toEqual([])
        expect((await other.call('GET', `${path}?customer_id=${rig.billed.customerReference}`)).body['data']).toEqual(
          [],
        )
      }
    }
    expect((await succeed(tenant, 'GET', `/v1/events/${id}`))['deleted']).toBe(false)
  })

  test('what cannot be answered is refused by name', async () => {
    const field = async (query: string) => (await tenant.call('GET', `/v1/events?${query}`)).body['field']
    expect(await field('page=1001&limit=50')).toBe('page')
    expect(await field('page=201&limit=50&processed_details_type=DEFAULT')).toBe('page')
    expect(await field('expand[]=meter')).toBe('expand')
    expect(await field('color=red')).toBe('color')
    expect(await field('timestamp=yesterday')).toBe('timestamp')
    expect((await tenant.call('GET', '/v1/events?page=1000&limit=50')).status).toBe(200)
    const body = { reference: 'x', customer_id: 'y' }
    expect((await tenant.call('POST', '/v1/events/delete', body)).body).toMatchObject({ field: 'customer_id' })
    expect((await tenant.call('POST', '/v1/events/delete', {})).body).toMatchObject({ field: 'reference' })
  })
})

test('while ClickHouse is away a read answers 503, to be sent again', async () => {
  const away = createClickHouse(`http://127.0.0.1:${await freePort()}`, 'none')
  const store = createEventStore(away, rig.log)
  await expect(store.find(tenant.tenant, '0'.repeat(32))).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    details: { retryAfterSeconds: 2 },
  })
  await away.close()
})

describe('lists', () => {
  const customer = 'list-customer'
  const names = ['list-1', 'list-2', 'list-3', 'list-4', 'list-5']
  beforeAll(async () => {
    // Two share a time; one is years old, beyond the time a list looks at first.
    const times = ['2024-01-01', '2026-03-02', '2026-03-02', '2026-03-03', '2026-03-04'].map(day =>
      ms(`${day}T00:00:00Z`),
    )
    await rig.send(
      ...names.map((name, index) => ({
        reference: name,
        customerKey: customer,
        timestampMs: times[index] ?? 0,
        ...(index === 4 ? { meterReference: 'other-meter' } : {}),
      })),
    )
  })

  test('go by the events own time, newest first, page by page, each event once', async () => {
    const all = await rig.references(`customer_id=${customer}`)
    expect([all[0], all[1], all[4]]).toEqual(['list-5', 'list-4', 'list-1'])
    expect(all.toSorted()).toEqual(names)
    const paged: string[] = []
    for (const page of [1, 2, 3]) {
      const answer = await rig.list(`customer_id=${customer}&limit=2&page=${page}`)
      expect(answer).toMatchObject({ page, limit: 2, total_number_of_pages: 3 })
      paged.push(...answer['data'].map((event: Row) => event['reference']))
    }
    expect(paged).toEqual(all)
    const first = await rig.list(`customer_id=${customer}&limit=2&expand[]=customer`)
    const next = await succeed(tenant, 'GET', first['links'].next)
    expect(next).toMatchObject({ page: 2, data: [{ reference: all[2] }, { reference: all[3] }] })
    expect(await rig.references('limit=100')).toEqual(expect.arrayContaining(names))
  })

  test('filter by meter, reference, time and customer', async () => {
    expect(await rig.references('meter_id=other-meter')).toEqual(['list-5'])
    expect(await rig.references('reference=list-2')).toEqual(['list-2'])
    expect(
      await rig.references(`customer_id=${customer}&timestamp=[2026-03-03T00:00:00Z,2026-03-04T00:00:00Z]`),
    ).toEqual(['list-5', 'list-4'])
    expect(await rig.references('timestamp=[,2025-01-01T00:00:00Z]')).toEqual(['list-1'])
    expect(await rig.references(`customer_id=${rig.billed.customerId}&reference=list-2`)).toEqual([])
  })

  test('find a customer by the id and the reference its events carry', async () => {
    const [byId, byReference] = [rig.reference(), rig.reference()]
    const other = await billedSubscription(tenant, { start_at: START })
    await rig.send(
      { reference: byId, customerKey: other.customerId },
      { reference: byReference, customerKey: other.customerReference },
    )
    for (const key of [other.customerId, other.customerReference])
      expect((await rig.references(`customer_id=${key}`)).toSorted()).toEqual([byId, byReference].toSorted())
  })

  test('show every duplicate beside the event that counts, and whether it differs', async () => {
    const name = rig.reference()
    const timestampMs = ms('2026-03-06T00:00:00Z')
    await rig.send(
      { reference: name, timestampMs },
      { reference: name, timestampMs },
      { reference: name, quantity: '7' },
    )
    const { data } = await rig.list(`reference=${name}`)
    expect(data.map((event: Row) => event['processed_details'].type)).toEqual(['DEFAULT', 'DUPLICATE', 'DUPLICATE'])
    const duplicates = data.slice(1).map((event: Row) => event['processed_details'])
    const id = rig.idOf(name)
    for (const details of duplicates)
      expect(details).toMatchObject({ duplicate_of_meter_data_id: id, duplicate: { of_meter_data_id: id } })
    expect(duplicates.map((details: Row) => details['duplicate'].content_differs)).toEqual([false, true])
    expect(data[2].meter_values[0].number).toBe('7')
    expect(new Set(duplicates.map((details: Row) => details['duplicate'].log_position)).size).toBe(2)
    expect((await rig.list(`reference=${name}&processed_details_type=DUPLICATE`))['data']).toEqual(data.slice(1))
    expect((await rig.list(`reference=${name}&processed_details_type=DEFAULT`))['data']).toEqual(data.slice(0, 1))
    expect((await succeed(tenant, 'GET', `/v1/events/${id}`))['processed_details'].type).toBe('DEFAULT')
  })
})

describe('what becomes of an event', () => {
  test('names the reason it is not billed, and follows what is put right', async () => {
    const [unknown, unpriced, early] = [rig.reference(), rig.reference(), rig.reference()]
    const late = tenant.seed.unique('late-customer')
    await rig.send(
      { reference: unknown, customerKey: late },
      { reference: unpriced, meterReference: 'unpriced-meter', timestampMs: ms('2026-03-02T00:00:00Z') },
      { reference: early, timestampMs: ms('2026-02-28T23:59:59Z') },
    )
    expect(await rig.variantOf(unknown)).toBe('CUSTOMER_NOT_FOUND')
    expect(await rig.variantOf(unpriced)).toBe('NO_PRICING')
    expect(await rig.variantOf(early)).toBe('NO_SUBSCRIPTION')
    const query = `customer_id=${late}&processed_details_type=NOT_MATCHED`
    expect(await rig.references(query)).toEqual([unknown])
    await succeed(tenant, 'POST', '/v1/customers', { reference: late, type: 'INDIVIDUAL' })
    expect(await rig.variantOf(unknown)).toBe('CUSTOMER_NOT_ACTIVE')
    await succeed(tenant, 'POST', `/v1/customers/${late}/activate`)
    expect(await rig.variantOf(unknown)).toBe('NO_SUBSCRIPTION')
    expect(await rig.references(`customer_id=${late}&processed_details_type=DEFAULT`)).toEqual([])
    expect(await rig.references(`customer_id=${rig.billed.customerId}&processed_details_type=NOT_MATCHED`)).toEqual(
      expect.arrayContaining([unpriced, early]),
    )
  })
})

describe('the trace', () => {
  test('says when, and which calculation, item, price, subscription and invoice', async () => {
    const own = await billedSubscription(tenant, { start_at: START })
    const name = rig.reference()
    const sentAt = Date.now()
    await rig.send({ ...tokensOf(own, name), receivedAtMs: ms('2026-03-04T00:00:01Z') })
    await runBilling(rig.billing, tenant.tenant, own.subscriptionId)
    const { data: invoices } = await succeed(
      tenant,
      'GET',
      `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}`,
    )
    for (const path of PATHS) {
      const trace = await succeed(tenant, 'GET', `${path}/${name}/event_trace?expand[]=customer`)
      expect(trace).toMatchObject({
        object_type: 'EVENT_TRACE',
        meter_data_id: rig.idOf(name),
        meter_data: { reference: name, processed_details: { type: 'DEFAULT' } },
        customer: { id: own.customerId },
        received_time: '2026-03-04T00:00:01Z',
        links: [{ pricing_plan_subscription_id: own.subscriptionId, invoice_id: invoices[0].id }],
      })
      expect(Math.abs(ms(trace['ingest_time']) - sentAt)).toBeLessThan(30_000)
      expect(ms(trace['processed_time'])).toBeGreaterThanOrEqual(ms(trace['ingest_time']))
      expect(Math.abs(ms(trace['processed_time']) - sentAt)).toBeLessThan(30_000)
      const [link] = trace['links']
      const item = await succeed(tenant, 'GET', `/v1/product-items/${link.product_item_ids[0]}`)
      expect(link.meter_value_calculation_ids).toEqual([item['usage_based'].meter_value_calculation_id])
      expect(link.pricing_item_config_id).toMatch(/^pico_/)
    }
    await succeed(tenant, 'POST', `/v1/events/${name}/delete`)
    const after = await succeed(tenant, 'GET', `/v1/events/${name}/event_trace`)
    expect(after).toMatchObject({ links: [], meter_data: { deleted: true } })
  })

  test("has no link, and the reason, for what is not billed, and is nobody else's", async () => {
    const own = await billedSubscription(tenant, { start_at: START })
    const [early, valueless] = [rig.reference(), rig.reference()]
    await rig.send(
      { ...tokensOf(own, early), timestampMs: ms('2026-02-01T00:00:00Z') },
      { ...tokensOf(own, valueless), valueReference: 'something-else' },
    )
    const trace = (name: string) => succeed(tenant, 'GET', `/v1/events/${name}/event_trace`)
    expect(await trace(early)).toMatchObject({
      links: [],
      meter_data: { processed_details: { not_matched: { variant: 'NO_SUBSCRIPTION' } } },
    })
    expect((await trace(valueless))['links']).toEqual([])
    const foreign = await rig.api.tenants.bLive.call('GET', `/v1/events/${rig.idOf(early)}/event_trace`)
    expect(foreign.status).toBe(404)
    const prediction = await tenant.call('GET', `/v1/events/${early}/event_trace?cost_prediction=true`)
    expect(prediction.body).toMatchObject({ code: 'INVALID_FIELD', field: 'cost_prediction' })
  })
})
