// Deleting events through the api: once processed they count nowhere, for good, and the notice of it goes out once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import { expectPayloads } from '../../../api/testing/event-payloads.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { openWorkerDatabase } from '../../../api/testing/worker.ts'
import { relayBatch } from '../../../api/workers/outbox-relay.ts'
import { createFailpoints } from '../../../shared/failpoint.ts'
import { type EventsRig, ms, NOW, openEventsRig, PATHS, START, tokensOf } from './rig.ts'

let rig: EventsRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await openEventsRig({ ownDatabase: true })
  tenant = rig.tenant
})
afterAll(() => rig?.close())

describe('deletion', () => {
  /** What the running period comes to, excluding tax. */
  const previewOf = async (of: Billed): Promise<string> => {
    const body = { pricing_plan_subscription_id: of.subscriptionId, invoices_per_schedule: 2 }
    const { invoice_infos } = await succeed(tenant, 'POST', '/v1/invoices/preview', body)
    return invoice_infos[0].invoices.map((invoice: Row) => invoice['invoice_amount_excluding_tax'].quantity).join(' ')
  }
  const notices = (id: string) =>
    rig.api.sql(`select type, data, actor_id from outbox where object_id = $1 and environment = 'LIVE'`, [id])

  test.each([
    ['by id', (path: string, name: string) => [`${path}/${rig.idOf(name)}/delete`, undefined]],
    ['by reference in the path', (path: string, name: string) => [`${path}/${name}/delete`, undefined]],
    ['by reference in the body', (path: string, name: string) => [`${path}/delete`, { reference: name }]],
  ] as const)('%s answers the event as deleted, again and again, with one notice', async (_, callOf) => {
    for (const path of PATHS) {
      const name = rig.reference()
      await rig.send({ reference: name })
      const [url, body] = callOf(path, name)
      const answers = [
        ...(await Promise.all([tenant.call('POST', String(url), body), tenant.call('POST', String(url), body)])),
        await tenant.call('POST', String(url), body),
      ]
      for (const answer of answers) {
        expect(answer.status).toBe(200)
        expect(answer.body).toMatchObject({ id: rig.idOf(name), reference: name, deleted: true })
        expect(answer.body).toEqual(answers[0]?.body)
      }
      const rows = await notices(rig.idOf(name))
      expect(rows).toMatchObject([{ type: 'METER_DATA.DELETED', data: { reference: name, deleted: true } }])
      await expectPayloads(rig.api, rig.idOf(name), ['METER_DATA.DELETED'])
      expect(await rig.references(`reference=${name}&deleted=true`)).toEqual([name])
      expect(await rig.references(`reference=${name}&deleted=false`)).toEqual([])
      expect(await rig.references(`reference=${name}`)).toEqual([name])
    }
  })

  test('takes the event off the next preview, and a resend does not bring it back', async () => {
    const own = await billedSubscription(tenant, { start_at: START })
    const event = (name: string, quantity: string) => ({ ...tokensOf(own, name), quantity })
    const [kept, gone] = [rig.reference(), rig.reference()]
    await rig.send(event(kept, '1000'), event(gone, '2000'))
    expect(await previewOf(own)).toBe('0.05 0.00')
    await succeed(tenant, 'POST', `/v1/events/${gone}/delete`)
    expect(await previewOf(own)).toBe('0.02 0.00')
    await rig.send(event(gone, '2000'))
    expect(await previewOf(own)).toBe('0.02 0.00')
    expect((await succeed(tenant, 'GET', `/v1/events/${gone}`))['deleted']).toBe(true)
    expect((await rig.list(`reference=${gone}`))['data']).toMatchObject([
      { deleted: true },
      { processed_details: { type: 'DUPLICATE' } },
    ])
  })

  test('an invoice that collects takes the deletion over, one that is FINAL never changes, and what comes late says so', async () => {
    const own = await billedSubscription(tenant, { start_at: START })
    const [counted, gone, before, late, next] = Array.from({ length: 5 }, rig.reference) as [
      string,
      string,
      string,
      string,
      string,
    ]
    const receivedAtMs = ms('2026-03-20T00:00:00Z')
    await rig.send(
      { ...tokensOf(own, counted), quantity: '5000', receivedAtMs },
      { ...tokensOf(own, gone), quantity: '2000', receivedAtMs },
      { ...tokensOf(own, before), quantity: '2000', receivedAtMs },
    )
    await runBilling(rig.billing, tenant.tenant, own.subscriptionId)
    const invoices = async () =>
      (await succeed(tenant, 'GET', `/v1/invoices?pricing_plan_subscription_id=${own.subscriptionId}`))['data']
    const [open]: Row[] = await invoices()
    const read = () => succeed(tenant, 'GET', `/v1/invoices/${open?.['id']}`)
    expect(await read()).toMatchObject({ status: 'OPEN', invoice_amount_excluding_tax: { quantity: '0.14' } })
    await succeed(tenant, 'POST', `/v1/events/${gone}/delete`)
    await succeed(tenant, 'POST', `/v1/invoices/${open?.['id']}/refresh`, { types: ['FULL'] })
    expect(await read()).toMatchObject({ status: 'OPEN', invoice_amount_excluding_tax: { quantity: '0.11' } })

    rig.api.clock.set(ms('2026-04-02T00:00:00Z'))
    const policy = (late_event_policy: string) =>
      succeed(tenant, 'PATCH', `/v1/platforms/${tenant.tenant.platformId}`, { late_event_policy })
    await policy('NOT_MATCHED')
    try {
      await runBilling(rig.billing, tenant.tenant, own.subscriptionId)
      expect(await read()).toMatchObject({ status: 'FINAL' })
      const final = await read()
      await succeed(tenant, 'POST', `/v1/events/${before}/delete`)
      const after = ms('2026-04-03T00:00:00Z')
      await rig.send(
        { ...tokensOf(own, late), receivedAtMs: after },
        { ...tokensOf(own, next), receivedAtMs: after, timestampMs: ms('2026-04-01T00:00:00Z') },
      )
      expect(await Promise.all([counted, late, next].map(rig.variantOf))).toEqual([
        'DEFAULT',
        'INVOICE_FINAL',
        'DEFAULT',
      ])
      expect(await read()).toEqual(final)
      const traced = async () =>
        (await succeed(tenant, 'GET', `/v1/events/${counted}/event_trace`))['links'][0].invoice_id
      expect(await traced()).toBe(final['id'])
    } finally {
      await policy('NEXT_INVOICE')
      rig.api.clock.set(NOW)
    }
  })

  test('waits for an event that was accepted a moment ago, and deletes it', async () => {
    const name = rig.reference()
    await rig.publish({ reference: name })
    const answer = await tenant.call('POST', `/v1/events/${name}/delete`)
    expect([answer.status, answer.body['deleted']]).toEqual([200, true])
  })

  test('an event nobody sent is 404, and is not deleted when it comes later', async () => {
    const name = rig.reference()
    expect((await tenant.call('POST', `/v1/events/${name}/delete`)).body).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    await rig.send({ reference: name })
    expect((await succeed(tenant, 'GET', `/v1/events/${name}`))['deleted']).toBe(false)
  })

  test('while the log is not processed it answers 503 with Retry-After, and the same call works later', async () => {
    const [stored, waiting] = [rig.reference(), rig.reference()]
    await rig.send({ reference: stored })
    await rig.stopAggregator()
    try {
      await rig.publish({ reference: waiting })
      const [early, unknown] = await Promise.all([
        tenant.call('POST', `/v1/events/${stored}/delete`),
        tenant.call('POST', `/v1/events/${waiting}/delete`),
      ])
      for (const answer of [early, unknown]) {
        expect([answer.status, answer.body['code']]).toEqual([503, 'SERVICE_UNAVAILABLE'])
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      }
      expect(await notices(rig.idOf(stored))).toEqual([])
    } finally {
      await rig.startAggregator()
    }
    for (const name of [stored, waiting]) {
      expect((await succeed(tenant, 'POST', `/v1/events/${name}/delete`))['deleted']).toBe(true)
      expect(await notices(rig.idOf(name))).toHaveLength(1)
    }
    const deadLetters = await rig.aggregator.rows(`SELECT reason FROM usage_dead_letters WHERE reason LIKE 'DELETE%'`)
    expect(deadLetters).toEqual([])
  })

  test('the notice goes out once, also when the deletion is asked for after it went', async () => {
    const name = rig.reference()
    await rig.send({ reference: name })
    await succeed(tenant, 'POST', `/v1/events/${name}/delete`)
    const { api } = rig
    const worker = await openWorkerDatabase(api)
    const pending = async () => (await api.sql('select from outbox where position is null')).length > 0
    while (await pending()) await relayBatch({ database: worker, reactions: [], failpoints: createFailpoints('') })
    await worker.close()
    await succeed(tenant, 'POST', `/v1/events/${name}/delete`)
    expect(await notices(rig.idOf(name))).toHaveLength(1)
    const trail = await succeed(tenant, 'GET', `/v1/audit-records?target_id=${rig.idOf(name)}`)
    expect(trail['data']).toMatchObject([{ target_resource_type: 'METER_DATA', action: 'DELETED' }])
  })

  test('a call that ended between the deletion and its notice is made good by the next', async () => {
    const name = rig.reference()
    await rig.send({ reference: name })
    const idHash = rig.idOf(name).slice(5)
    await rig.log.publishDeletion({ ...tenant.tenant, idHash, receivedAtMs: rig.api.clock.now() })
    await rig.aggregator.settle()
    expect(await notices(rig.idOf(name))).toEqual([])
    await succeed(tenant, 'POST', `/v1/events/${name}/delete`)
    expect(await notices(rig.idOf(name))).toHaveLength(1)
  })
})
