// What became of events: delivery states, attempts and how long they are kept, and events sent by hand.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runJob } from '../../../jobs/testing/run-job.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import type { Row } from '../../../testing/wire.ts'
import { webhookJobs } from '../delivery/jobs.ts'
import { answering, emails, FAILED, OK, openEventLog, START } from '../testing/event-log.ts'
import { status } from '../testing/receiver.ts'

let log: Awaited<ReturnType<typeof openEventLog>>
beforeAll(async () => {
  log = await openEventLog()
})
afterAll(() => log?.close())
beforeEach(() => log.reset())

describe('what became of events', () => {
  const statuses = async (hook: Row) =>
    (await log.list(`webhook_id=${hook['id']}`))['data'].map(({ payload, deliveries: [delivery, ...others] }: Row) => {
      expect(others).toEqual([])
      return [payload.data.email.split('@')[0], delivery.status, delivery.attempt_count, delivery.last_response_code]
    })

  test('is shown for each webhook: received, waiting, or neither', async () => {
    await log.customer('before')
    await log.rig.relay()
    const hook = await log.webhook()
    await log.customer('a')
    await log.rig.relay()
    await log.rig.send({ post: answering(OK) })
    for (const name of ['b', 'c']) await log.customer(name)
    await log.rig.relay()
    await log.rig.send({ post: answering(FAILED) })
    expect(await statuses(hook)).toEqual([
      ['a', 'SUCCEEDED', 1, 204],
      ['b', 'PENDING', 1, 503],
      ['c', 'PENDING', 0, null],
    ])
    // What waits, and what happens while the webhook is off, is skipped.
    await log.call('PATCH', `/v1/webhooks/${hook['id']}`, { active: false })
    await log.customer('d')
    await log.rig.relay()
    await log.call('PATCH', `/v1/webhooks/${hook['id']}`, { active: true })
    await log.customer('e')
    await log.rig.relay()
    const skipped = [
      ['b', 'FAILED', 1, 503],
      ['c', 'FAILED', 0, null],
      ['d', 'FAILED', 0, null],
    ]
    expect(await statuses(hook)).toEqual([['a', 'SUCCEEDED', 1, 204], ...skipped, ['e', 'PENDING', 0, null]])
    const failed = await log.list(`webhook_id=${hook['reference']}&status=FAILED`)
    expect(emails(failed)).toEqual(['b', 'c', 'd'])
    expect(emails(await log.list(`webhook_id=${hook['id']}&status=PENDING`))).toEqual(['e'])
    expect(emails(await log.list(`webhook_id=${hook['id']}&status=SUCCEEDED`))).toEqual(['a'])
    // For an event: one entry for each webhook that gets it.
    const [other] = [await log.webhook({ included_actions: ['PRODUCT.CREATED'] })]
    const read = await log.call('GET', `/v1/webhook-events/${failed['data'][0].id}`)
    expect(read['deliveries'].map((delivery: Row) => delivery['webhook_id'])).toEqual([hook['id']])
    expect((await log.list(`webhook_id=${other['id']}`))['data']).toEqual([])
  })

  test('is kept attempt by attempt, with the reason of each failure', async () => {
    const hook = await log.webhook()
    await log.customer('a')
    await log.rig.relay()
    await log.rig.send({ post: answering(FAILED) })
    log.rig.api.clock.set(START + 120_000)
    await log.rig.send({ post: answering(OK) })
    const [event] = (await log.list(`webhook_id=${hook['id']}`))['data']
    const attempts = await log.call('GET', `/v1/webhook-events/${event.id}/attempts`)
    const about = {
      object_type: 'WEBHOOK_ATTEMPT',
      webhook_id: hook['id'],
      event_id: event.id,
      kind: 'QUEUE',
      duration_ms: 5,
    }
    expect(attempts['data']).toMatchObject([
      { ...about, created_at: '2026-03-11T10:00:00Z', succeeded: false, response_code: 503, cause: FAILED.cause },
      { ...about, created_at: '2026-03-11T10:02:00Z', succeeded: true, response_code: 204, cause: null },
    ])
    const [first, second] = attempts['data']
    const page = await log.call('GET', `/v1/webhook-events/${event.id}/attempts?limit=1&webhook_id=${hook['id']}`)
    expect(page['data']).toEqual([first])
    expect((await log.call('GET', page['links'].next))['data']).toEqual([second])
    const foreign = await log.webhook()
    expect(
      (await log.call('GET', `/v1/webhook-events/${event.id}/attempts?webhook_id=${foreign['id']}`))['data'],
    ).toEqual([])
    expect(await log.call('GET', '/v1/webhook-events/evnt_0/attempts')).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  })
})

test('attempts are kept as long as their events, and no longer than the outbox keeps those', async () => {
  const hook = await log.webhook()
  for (const name of ['a', 'b']) await log.customer(name)
  await log.rig.relay()
  await log.rig.send({ post: answering(OK) })
  const left = () =>
    log.rig.api.sql('select event_id from webhook_attempts where webhook_id = $1 order by id', [hook['id']])
  const expire = () => runJob(webhookJobs, 'expire-webhook-attempts', log.rig.jobDeps)
  const [a, b] = (await left()).map(({ event_id }) => event_id)
  await log.rig.api.sql('delete from outbox where id = $1', [a])
  log.rig.api.clock.set(START + 30 * 86_400_000 - 1)
  await expire()
  expect(await left()).toHaveLength(2)
  log.rig.api.clock.set(START + 31 * 86_400_000)
  await expire()
  expect(await left()).toEqual([{ event_id: b }])
  await log.rig.api.sql('delete from outbox where id = $1', [b])
  await expire()
  expect(await left()).toEqual([])
})

describe('resending', () => {
  const resend = (event: Row, webhookId: unknown) =>
    log.call('POST', `/v1/webhook-events/${event['id']}/resend`, { webhook_id: webhookId })

  test('sends the same body under the same id, outside the queue, and keeps the attempt', async () => {
    const hook = await log.webhook({ include_previous_data: true })
    for (const name of ['a', 'b']) await log.customer(name)
    await log.rig.relay()
    await log.rig.send()
    const [event] = (await log.list(`webhook_id=${hook['id']}`))['data']
    expect(await resend(event, hook['reference'])).toEqual({ successful: true, message: 'The endpoint answered 200.' })
    const [first, , again] = log.receiver.received
    expect(log.receiver.received).toHaveLength(3)
    expect(again?.body).toBe(first?.body)
    expect(again?.headers['x-event-id']).toBe(event.id)
    log.receiver.answer(status(500))
    expect(await resend(event, hook['id'])).toEqual({ successful: false, message: 'The endpoint answered 500.' })
    const { data } = await log.call('GET', `/v1/webhook-events/${event.id}/attempts`)
    expect(data.map(({ kind, succeeded }: Row) => [kind, succeeded])).toEqual([
      ['QUEUE', true],
      ['RESEND', true],
      ['RESEND', false],
    ])
    // It affects nothing else.
    expect((await log.call('GET', `/v1/webhooks/${hook['id']}`))['penalty_box_data']).toBeNull()
    // The audit trail shows who did it, and the event shows the webhook.
    await log.rig.relay()
    const audit = await log.rig.api.sql(
      `select target_resource_type, action, user_id from audit_records where target_id = $1 order by sequence`,
      [event.id],
    )
    const record = { target_resource_type: 'WEBHOOK_EVENT', action: 'RESENT', user_id: expect.stringMatching(/^akey_/) }
    expect(audit).toEqual([record, record])
    const [noted] = await log.rig.api.sql(`select data from outbox where object_id = $1`, [event.id])
    expect(noted?.['data']).toMatchObject({ type: 'CUSTOMER.CREATED', webhook_id: hook['id'] })
    await expectPayloads(log.rig.api, event.id, ['WEBHOOK_EVENT.RESENT'])
  })

  test('is refused for an unknown event, a disabled webhook, and a type that the webhook does not select', async () => {
    const hook = await log.webhook()
    const event = await log.customer('a').then(async () => {
      await log.rig.relay()
      return (await log.list('types[]=CUSTOMER.CREATED'))['data'][0]
    })
    expect(await resend({ id: 'evnt_0' }, hook['id'])).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    expect(await resend(event, 'nothing')).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    expect(await log.call('POST', `/v1/webhook-events/${event.id}/resend`, {})).toMatchObject({ code: 'MISSING_FIELD' })
    const other = await log.webhook({ included_actions: ['PRODUCT.CREATED'] })
    expect(await resend(event, other['id'])).toMatchObject({ code: 'INVALID_OPERATION', field: 'webhook_id' })
    await log.rig.api.sql(`update webhooks set active = false, disabled_reason = 'x' where id = $1`, [hook['id']])
    expect(await resend(event, hook['id'])).toMatchObject({ code: 'INVALID_OPERATION', field: 'active' })
    expect(log.receiver.received).toEqual([])
  })
})
