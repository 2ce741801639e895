// Deliveries with a real database: order, retries, disabling, leases, and repeats after a crash. The test sets the
// clock.
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createUser } from '../../../../shared/access/create-platform.ts'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { runJob } from '../../../jobs/testing/run-job.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import type { Post, PostOutcome } from '../request/post.ts'
import type { WebhookRequest } from '../request/request.ts'
import { type DeliveryRig, openDeliveryRig } from '../testing/delivery-rig.ts'
import { startReceiver } from '../testing/receiver.ts'
import { webhookJobs } from './jobs.ts'
import { takeQueues } from './queue-store.ts'
import { sendDue } from './sender.ts'

let rig: DeliveryRig
beforeAll(async () => {
  rig = await openDeliveryRig()
})
afterAll(() => rig?.close())
beforeEach(async () => {
  await rig.api.sql('delete from webhooks')
  // Remove what the previous test left: a webhook gets only events placed in the order after it was created.
  await rig.relay()
  now = START
  rig.api.clock.set(now)
  sent = []
  answers = () => OK
})

const START = Date.parse('2026-03-11T10:00:00Z')
const MINUTE_MS = 60_000
let now: number
const pass = (minutes: number): void => {
  now += minutes * MINUTE_MS
  rig.api.clock.set(now)
}

const OK: PostOutcome = { succeeded: true, responseCode: 200, cause: null, durationMs: 5 }
const FAILED: PostOutcome = { succeeded: false, responseCode: 503, cause: 'The endpoint answered 503.', durationMs: 5 }

/** What was sent: to which address, as which event, with which type and object, and when. */
type Sent = { path: string; eventId: string; type: string; name: string; at: number; body: string }
let sent: Sent[]
let answers: (request: Sent) => PostOutcome
const post: Post = async ({ url, headers, body }: WebhookRequest) => {
  const { type, data } = JSON.parse(body)
  const one = {
    path: new URL(url).pathname,
    eventId: String(headers['X-EVENT-ID']),
    type,
    name: nameOf(data),
    at: now,
    body,
  }
  sent.push(one)
  return answers(one)
}
const send = (more = {}) => rig.send({ post, ...more })
const tenant = () => rig.api.tenants.aLive

let counter = 0
async function webhook(more: object = {}): Promise<Row> {
  counter += 1
  const { status, body } = await tenant().call('POST', '/v1/webhooks', {
    reference: `hook-${counter}`,
    name: 'Hook',
    url: `https://hooks.example.com/${counter}`,
    included_actions: ['CUSTOMER.CREATED', 'CUSTOMER.UPDATED'],
    ...more,
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}
const read = async (id: unknown) => (await tenant().call('GET', `/v1/webhooks/${id}`)).body
async function customer(name: string, of = tenant()): Promise<Row> {
  const { status, body } = await of.call('POST', '/v1/customers', { type: 'INDIVIDUAL', email: emailOf(name) })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body
}
// The name of a customer in these tests is its e-mail address, which may change and need not be unique.
const emailOf = (name: string): string => `${name.replaceAll(' ', '-')}@example.com`
const nameOf = (data: Row): string => String(data['email']).split('@')[0] ?? ''
const names = () => sent.map(({ name }) => name)

describe('what is sent', () => {
  test('is each change committed after the webhook was created, of its types, in order, once', async () => {
    await customer('before')
    await rig.relay()
    await webhook()
    for (const name of ['a', 'b', 'c']) await customer(name)
    await tenant().call('POST', '/v1/products', { reference: 'p', name: 'product' })
    await customer('of another environment', rig.api.tenants.aTest)
    await customer('of another tenant', rig.api.tenants.bLive)
    await rig.relay()
    await send()
    await send()
    expect(sent.map(({ type, name }) => [type, name])).toEqual([
      ['CUSTOMER.CREATED', 'a'],
      ['CUSTOMER.CREATED', 'b'],
      ['CUSTOMER.CREATED', 'c'],
    ])
    expect(new Set(sent.map(({ eventId }) => eventId)).size).toBe(3)
  })

  test.each([
    ['everything, without lists', {}, ['WEBHOOK.CREATED', 'CUSTOMER.CREATED', 'CUSTOMER.UPDATED', 'CUSTOMER.DELETED']],
    ['what is included', { included_actions: ['CUSTOMER.DELETED'] }, ['CUSTOMER.DELETED']],
    [
      'what is not excluded',
      { excluded_actions: ['CUSTOMER.UPDATED', 'WEBHOOK.CREATED'] },
      ['CUSTOMER.CREATED', 'CUSTOMER.DELETED'],
    ],
    [
      'what is included, whatever is excluded',
      { included_actions: ['CUSTOMER.UPDATED'], excluded_actions: ['CUSTOMER.UPDATED'] },
      ['CUSTOMER.UPDATED'],
    ],
  ])('is %s', async (_name, lists, types) => {
    await webhook({ included_actions: [], ...lists })
    const { id } = await customer('x')
    await tenant().call('PATCH', `/v1/customers/${id}`, { email: emailOf('y') })
    await tenant().call('DELETE', `/v1/customers/${id}`)
    await rig.relay()
    await send()
    expect(sent.map(({ type }) => type)).toEqual(types)
  })

  test('has the resource as the API returns it and, where configured, its previous data', async () => {
    const [plain, more] = [await webhook(), await webhook({ include_previous_data: true })]
    const created = await tenant().call('POST', '/v1/customers', { type: 'INDIVIDUAL', email: emailOf('first') })
    const { id } = created.body
    const updated = await tenant().call('PATCH', `/v1/customers/${id}`, { email: emailOf('second') })
    await rig.relay()
    await send()
    const bodies = (webhookOf: Row) =>
      sent.filter(({ path }) => webhookOf['url'].endsWith(path)).map(({ body }) => JSON.parse(body))
    const payload = (answer: typeof created, type: string) => ({
      created_at: answer.body['updated_at'],
      type,
      original_request_id: answer.headers['x-request-id'],
      environment: 'LIVE',
      data: answer.body,
    })
    const [first, second] = [payload(created, 'CUSTOMER.CREATED'), payload(updated, 'CUSTOMER.UPDATED')]
    expect(bodies(plain)).toEqual([first, second])
    expect(bodies(more)).toEqual([first, { ...second, previous_data: created.body }])
  })

  test('has the same body at every attempt, whatever happened to the resource since', async () => {
    await webhook({ include_previous_data: true, included_actions: ['CUSTOMER.UPDATED'] })
    const { id } = await customer('x')
    await tenant().call('PATCH', `/v1/customers/${id}`, { email: emailOf('y') })
    await rig.relay()
    answers = () => FAILED
    await send()
    await tenant().call('PATCH', `/v1/customers/${id}`, { email: emailOf('z') })
    await tenant().call('DELETE', `/v1/customers/${id}`)
    pass(2)
    await send()
    expect(sent).toHaveLength(2)
    expect(sent[1]?.body).toBe(sent[0]?.body)
    expect(sent[1]?.eventId).toBe(sent[0]?.eventId)
  })
})

describe('a failure', () => {
  test('blocks what is behind it, shows in the webhook, and is cleared by a success', async () => {
    const { id } = await webhook()
    const other = await webhook()
    answers = ({ path }) => (other['url'].endsWith(path) ? OK : FAILED)
    for (const name of ['a', 'b']) await customer(name)
    await rig.relay()
    await send()
    expect(sent.filter(({ path }) => other['url'].endsWith(path)).map(({ name }) => name)).toEqual(['a', 'b'])
    const failing = await read(id)
    expect(failing['penalty_box_data']).toEqual({
      retry_count: 1,
      retry_at: '2026-03-11T10:02:00Z',
      cause: 'The endpoint answered 503.',
      event_id: sent.find(({ name }) => name === 'a')?.eventId,
      payload: sent.find(({ name }) => name === 'a')?.body,
    })
    expect((await read(other['id']))['penalty_box_data']).toBeNull()
    answers = () => OK
    sent = []
    pass(1)
    await send()
    expect(names()).toEqual([])
    pass(1)
    await customer('c')
    await rig.relay()
    await send()
    expect(names().filter((_, index) => !other['url'].endsWith(sent[index]?.path ?? ''))).toEqual(['a', 'b', 'c'])
    expect((await read(id))['penalty_box_data']).toBeNull()
  })

  test('is tried again after 2, 4, 8 … 512 minutes; the twentieth in a row disables the webhook, 6,142 minutes after the first', async () => {
    const { id } = await webhook()
    await customer('x')
    await customer('behind')
    await rig.relay()
    answers = () => FAILED
    await send()
    while ((await read(id))['active']) {
      // To the minute: nothing is due a moment earlier.
      const retryAt = Date.parse((await read(id))['penalty_box_data'].retry_at)
      now = retryAt - 1
      rig.api.clock.set(now)
      const before = sent.length
      await send()
      expect(sent).toHaveLength(before)
      now = retryAt
      rig.api.clock.set(now)
      await send()
      expect(sent).toHaveLength(before + 1)
    }
    const minutes = sent.map(({ at }) => (at - START) / MINUTE_MS)
    expect(minutes.slice(0, 10)).toEqual([0, 2, 6, 14, 30, 62, 126, 254, 510, 1_022])
    expect(minutes.slice(10)).toEqual(Array.from({ length: 10 }, (_, index) => 1_022 + 512 * (index + 1)))
    expect(minutes.at(-1)).toBe(6_142)
    expect(sent).toHaveLength(20)
    expect(new Set(names())).toEqual(new Set(['x']))
    const disabled = await read(id)
    expect(disabled).toMatchObject({
      active: false,
      disabled_reason: '20 deliveries in a row failed, the last at 2026-03-15T16:22:00Z. The endpoint answered 503.',
      penalty_box_data: { retry_count: 20, retry_at: null },
    })
    const notices = await noticesOf(rig.api, id)
    expect(notices.map(({ type, data }) => [type, data.active])).toEqual([
      ['WEBHOOK.CREATED', true],
      ['WEBHOOK.UPDATED', false],
    ])
    expect(await rig.api.sql('select kind, succeeded from webhook_attempts where webhook_id = $1', [id])).toHaveLength(
      20,
    )
    // What waited, and what happens while it is off, is skipped; deliveries start again with events after it is active.
    answers = () => OK
    sent = []
    await customer('while disabled')
    await rig.relay()
    pass(600)
    await send()
    expect(sent).toEqual([])
    for (const call of ['send-test', 'send-penalty-box-payload']) {
      expect((await tenant().call('POST', `/v1/webhooks/${id}/${call}`)).body).toMatchObject({
        code: 'INVALID_OPERATION',
        field: 'active',
      })
    }
    const again = (await tenant().call('PATCH', `/v1/webhooks/${id}`, { active: true })).body
    expect(again).toMatchObject({ active: true, disabled_reason: null, penalty_box_data: null })
    await customer('after')
    await rig.relay()
    await send()
    expect(names()).toEqual(['after'])
  })

  test('that lasts seven days is passed over, and the failures in a row go on', async () => {
    const { id } = await webhook()
    await customer('old')
    await rig.relay()
    answers = () => FAILED
    await send()
    pass(5 * 24 * 60)
    await customer('new')
    await rig.relay()
    await send()
    expect(names()).toEqual(['old', 'old'])
    pass(2 * 24 * 60)
    await send()
    expect(names()).toEqual(['old', 'old', 'new'])
    expect((await read(id))['penalty_box_data']).toMatchObject({ retry_count: 3, event_id: sent[2]?.eventId })
    answers = () => OK
    pass(8)
    await send()
    expect(names().at(-1)).toBe('new')
    expect((await read(id))['penalty_box_data']).toBeNull()
  })

  test('is reported to the administrators at sixteen in a row, and when the webhook is disabled', async () => {
    const { platformId } = tenant().tenant
    const member = async (name: string, role: string) => {
      await createUser(rig.api.databaseUrl, `${name}@example.com`, [platformId])
      const [user] = await rig.api.sql('select id from users where username = $1', [`${name}@example.com`])
      await rig.api.sql('update user_memberships set role_ids = array[$2] where user_id = $1', [user?.['id'], role])
      return user?.['id']
    }
    const administrator = await member('administrator', 'role_administrator')
    await member('viewer', 'role_viewer')
    const { id } = await webhook()
    await customer('x')
    await rig.relay()
    answers = () => FAILED
    const mails = () =>
      rig.api.sql(`select user_id, kind, data from identity_mails where kind like 'WEBHOOK%' order by created_at, id`)
    const step = async () => {
      now = Date.parse((await read(id))['penalty_box_data']?.retry_at ?? new Date(now).toISOString())
      rig.api.clock.set(now)
      await send()
    }
    for (let failure = 1; failure <= 15; failure += 1) await step()
    expect(await mails()).toEqual([])
    for (let failure = 16; failure <= 20; failure += 1) await step()
    const data = {
      platform_name: 'Platform A',
      environment: 'LIVE',
      webhook_name: 'Hook',
      cause: 'The endpoint answered 503.',
    }
    expect(await mails()).toEqual([
      { user_id: administrator, kind: 'WEBHOOK_FAILING', data },
      { user_id: administrator, kind: 'WEBHOOK_DISABLED', data },
    ])
  })
})

describe('the penalty box', () => {
  const resend = (id: unknown) => tenant().call('POST', `/v1/webhooks/${id}/send-penalty-box-payload`)

  test('is sent by its tenant: on success the queue continues, on failure nothing changes', async () => {
    // The API itself sends: first to a port without a listener, then to a receiver.
    const { id } = await webhook({ url: 'http://127.0.0.1:1/' })
    expect((await resend(id)).body).toMatchObject({ code: 'INVALID_OPERATION' })
    for (const name of ['a', 'b']) await customer(name)
    await rig.relay()
    answers = () => FAILED
    await send()
    const before = (await read(id))['penalty_box_data']
    expect((await resend(id)).body).toEqual({ successful: false, message: 'The endpoint refused the connection.' })
    const cause = 'The endpoint refused the connection.'
    expect((await read(id))['penalty_box_data']).toEqual({ ...before, cause })
    const receiver = await startReceiver()
    await tenant().call('PATCH', `/v1/webhooks/${id}`, { url: receiver.urlOf('/') })
    expect((await resend(id)).body).toEqual({ successful: true, message: 'The endpoint answered 200.' })
    expect(receiver.received.map(({ body }) => nameOf(JSON.parse(body).data))).toEqual(['a'])
    await receiver.close()
    expect((await read(id))['penalty_box_data']).toBeNull()
    answers = () => OK
    sent = []
    await send()
    expect(names()).toEqual(['b'])
    const attempts = await rig.api.sql(
      'select kind, succeeded from webhook_attempts where webhook_id = $1 order by id',
      [id],
    )
    expect(attempts.map(({ kind, succeeded }) => [kind, succeeded])).toEqual([
      ['QUEUE', false],
      ['PENALTY_BOX', false],
      ['PENALTY_BOX', true],
      ['QUEUE', true],
    ])
    // Both manual sends are in the audit trail.
    await rig.relay()
    const audit = await rig.api.sql(
      `select user_id from audit_records where action = 'RESENT' and target_id in (select event_id from webhook_attempts where webhook_id = $1)`,
      [id],
    )
    const record = { user_id: expect.stringMatching(/^akey_/) }
    expect(audit).toEqual([record, record])
  })

  test('is not sent twice at once: while a worker sends it, the tenant gets an error', async () => {
    const { id } = await webhook()
    await customer('a')
    await rig.relay()
    answers = () => FAILED
    await send()
    pass(2)
    expect(await takeQueues(rig.system, { isSlow: true, limit: 10 })).toHaveLength(1)
    expect((await resend(id)).body).toMatchObject({ code: 'INVALID_OPERATION', message: /being sent/ })
  })
})

describe('switching off', () => {
  test('ends deliveries at once, and what happens meanwhile is never sent', async () => {
    const { id } = await webhook()
    await customer('a')
    await rig.relay()
    await tenant().call('PATCH', `/v1/webhooks/${id}`, { active: false })
    await customer('b')
    await rig.relay()
    await send()
    await tenant().call('PATCH', `/v1/webhooks/${id}`, { active: true })
    await customer('c')
    await rig.relay()
    await send()
    expect(names()).toEqual(['c'])
  })

  test('or deleting it while it is being sent to leaves nothing behind', async () => {
    const [off, gone] = [await webhook(), await webhook()]
    await customer('a')
    await rig.relay()
    const during: Post = async request => {
      await tenant().call('PATCH', `/v1/webhooks/${off['id']}`, { active: false })
      await tenant().call('DELETE', `/v1/webhooks/${gone['id']}`)
      return post(request)
    }
    await rig.send({ post: during })
    expect(names()).toEqual(['a', 'a'])
    expect(await rig.api.sql('select next_attempt_at, leased_until from webhook_queues')).toMatchObject([
      { next_attempt_at: null },
    ])
  })
})

describe('whatever dies, and however many workers there are', () => {
  test.each(['webhooks.before-record', 'webhooks.after-record'])(
    'a worker that dies at %s repeats with the same ids and loses nothing',
    async point => {
      await webhook()
      for (const name of ['a', 'b']) await customer(name)
      await rig.relay()
      await expect(send({ failpoints: createFailpoints(`${point}:error`) })).rejects.toThrow('failpoint')
      await customer('c')
      await rig.relay()
      // Its lease keeps others from the queue until it ends.
      pass(0.5)
      await send()
      pass(1)
      await send()
      const first = point === 'webhooks.before-record' ? ['a', 'b', 'a', 'b', 'c'] : ['a', 'b', 'c']
      expect(names()).toEqual(first)
      expect(new Set(sent.map(({ eventId }) => eventId)).size).toBe(3)
    },
  )

  test('a worker that wakes up after its lease records nothing over the one that took it', async () => {
    await webhook()
    await customer('a')
    await rig.relay()
    let wake = (): void => undefined
    const asleep = new Promise<void>(resolve => {
      wake = resolve
    })
    const slow = sendDue({ ...rig.deps, post: () => asleep.then(() => FAILED) }, false)
    await expect.poll(() => rig.api.sql(`select 1 from webhook_queues where fence = 1`)).toHaveLength(1)
    pass(2)
    await send()
    expect(names()).toEqual(['a'])
    wake()
    await slow
    expect(await rig.api.sql('select failures, next_attempt_at from webhook_queues')).toEqual([
      { failures: 0, next_attempt_at: null },
    ])
  })

  test('an event committed while its queue is being sent is sent next, without waiting for another', async () => {
    await webhook()
    await customer('a')
    await rig.relay()
    const during: Post = async request => {
      if (sent.length === 0) {
        await customer('b')
        await rig.relay()
      }
      return post(request)
    }
    await rig.send({ post: during })
    expect(names()).toEqual(['a', 'b'])
  })

  test('a webhook that was not woken is found', async () => {
    await webhook()
    await customer('a')
    await rig.relay()
    await rig.api.sql('update webhook_queues set next_attempt_at = null')
    await send()
    expect(names()).toEqual([])
    await runJob(webhookJobs, 'find-waiting-webhooks', rig.jobDeps)
    await send()
    expect(names()).toEqual(['a'])
    // A queue without matching events moves on.
    await webhook({ included_actions: ['INVOICE.PAID'] })
    await customer('b')
    await rig.relay()
    await runJob(webhookJobs, 'find-waiting-webhooks', rig.jobDeps)
    await send()
    expect(await rig.api.sql('select 1 from webhook_queues where next_attempt_at is not null')).toEqual([])
  })

  test('each webhook gets the order of commits, with repeats and nothing missing, whatever fails and dies', async () => {
    const failure = fc.constantFrom('no', 'no', 'answer', 'before-record', 'after-record')
    await fc.assert(
      fc.asyncProperty(fc.array(failure, { minLength: 5, maxLength: 12 }), async faults => {
        await rig.api.sql('delete from webhooks')
        sent = []
        const hooks = [await webhook(), await webhook()]
        const made: string[] = []
        for (const fault of faults) {
          const name = `n${made.length}`
          made.push(name)
          await customer(name)
          await rig.relay()
          answers = () => (fault === 'answer' && sent.length % 2 === 0 ? FAILED : OK)
          const dies = fault.endsWith('record') ? { failpoints: createFailpoints(`webhooks.${fault}:error`) } : {}
          await send(dies).catch(() => undefined)
          pass(3)
        }
        answers = () => OK
        // Long enough for the last failure, and for the last lease.
        for (let round = 0; round < 3; round += 1) {
          pass(600)
          await send()
        }
        for (const hook of hooks) {
          const own = sent.filter(({ path }) => hook['url'].endsWith(path)).map(({ name }) => made.indexOf(name))
          // Each event is the next one, or one that was sent before.
          let highest = -1
          for (const index of own) {
            expect(index).toBeLessThanOrEqual(highest + 1)
            highest = Math.max(highest, index)
          }
          expect(highest).toBe(made.length - 1)
        }
      }),
      { numRuns: 8 },
    )
  })
})
