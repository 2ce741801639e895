// Deliveries with a real database: order, retries, disabling and the penalty box. The test sets the clock.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createUser } from '../../../../shared/access/create-platform.ts'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { getOne } from '../../../resource/store.ts'
import { viewOf } from '../../../resource/views.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import type { Post } from '../request/post.ts'
import { type DeliveryRig, openDeliveryRig } from '../testing/delivery-rig.ts'
import { startReceiver } from '../testing/receiver.ts'
import { emailOf, FAILED, MINUTE_MS, nameOf, OK, recordDeliveries, START } from '../testing/record-deliveries.ts'
import { webhookResource } from '../webhook.ts'
import { takeQueues } from './queue/queue-store.ts'

let rig: DeliveryRig
const { book, begin, customer, names, pass, post, read, send, tenant, webhook } = recordDeliveries(() => rig)
beforeAll(async () => {
  rig = await openDeliveryRig()
})
afterAll(() => rig?.close())
beforeEach(begin)

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
    expect(book.sent.map(({ type, name }) => [type, name])).toEqual([
      ['CUSTOMER.CREATED', 'a'],
      ['CUSTOMER.CREATED', 'b'],
      ['CUSTOMER.CREATED', 'c'],
    ])
    expect(new Set(book.sent.map(({ eventId }) => eventId)).size).toBe(3)
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
    expect(book.sent.map(({ type }) => type)).toEqual(types)
  })

  test('has the resource as the API returns it and, where configured, its previous data', async () => {
    const [plain, more] = [await webhook(), await webhook({ include_previous_data: true })]
    const created = await tenant().call('POST', '/v1/customers', { type: 'INDIVIDUAL', email: emailOf('first') })
    const { id } = created.body
    const updated = await tenant().call('PATCH', `/v1/customers/${id}`, { email: emailOf('second') })
    await rig.relay()
    await send()
    const bodies = (webhookOf: Row) =>
      book.sent.filter(({ path }) => webhookOf['url'].endsWith(path)).map(({ body }) => JSON.parse(body))
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
    book.answers = () => FAILED
    await send()
    await tenant().call('PATCH', `/v1/customers/${id}`, { email: emailOf('z') })
    await tenant().call('DELETE', `/v1/customers/${id}`)
    pass(2)
    await send()
    expect(book.sent).toHaveLength(2)
    expect(book.sent[1]?.body).toBe(book.sent[0]?.body)
    expect(book.sent[1]?.eventId).toBe(book.sent[0]?.eventId)
  })
})

describe('a failure', () => {
  test('blocks what is behind it, shows in the webhook, and is cleared by a success', async () => {
    const { id } = await webhook()
    const other = await webhook()
    book.answers = ({ path }) => (other['url'].endsWith(path) ? OK : FAILED)
    for (const name of ['a', 'b']) await customer(name)
    await rig.relay()
    await send()
    expect(book.sent.filter(({ path }) => other['url'].endsWith(path)).map(({ name }) => name)).toEqual(['a', 'b'])
    const failing = await read(id)
    expect(failing['penalty_box_data']).toEqual({
      retry_count: 1,
      retry_at: '2026-03-11T10:02:00Z',
      cause: 'The endpoint answered 503.',
      event_id: book.sent.find(({ name }) => name === 'a')?.eventId,
      payload: book.sent.find(({ name }) => name === 'a')?.body,
    })
    // A user who may not read events sees that it fails, and not what is in the event.
    const limited = { ...SERVICE, may: (permission: string) => permission !== 'WEBHOOK_EVENT.VIEW' }
    const seen = await inTenant(rig.api.database, tenant().tenant, limited, async uow =>
      viewOf(uow, webhookResource, await getOne(uow, webhookResource, id)),
    )
    expect(seen['penalty_box_data']).toEqual({ ...failing['penalty_box_data'], payload: null })
    expect((await read(other['id']))['penalty_box_data']).toBeNull()
    book.answers = () => OK
    book.sent = []
    pass(1)
    await send()
    expect(names()).toEqual([])
    pass(1)
    await customer('c')
    await rig.relay()
    await send()
    expect(names().filter((_, index) => !other['url'].endsWith(book.sent[index]?.path ?? ''))).toEqual(['a', 'b', 'c'])
    expect((await read(id))['penalty_box_data']).toBeNull()
  })

  test('is tried again after 2, 4, 8 … 512 minutes; the twentieth in a row disables the webhook, 6,142 minutes after the first', async () => {
    const { id } = await webhook()
    await customer('x')
    await customer('behind')
    await rig.relay()
    book.answers = () => FAILED
    await send()
    while ((await read(id))['active']) {
      // To the minute: nothing is due a moment earlier.
      const retryAt = Date.parse((await read(id))['penalty_box_data'].retry_at)
      book.now = retryAt - 1
      rig.api.clock.set(book.now)
      const before = book.sent.length
      await send()
      expect(book.sent).toHaveLength(before)
      book.now = retryAt
      rig.api.clock.set(book.now)
      await send()
      expect(book.sent).toHaveLength(before + 1)
    }
    const minutes = book.sent.map(({ at }) => (at - START) / MINUTE_MS)
    expect(minutes.slice(0, 10)).toEqual([0, 2, 6, 14, 30, 62, 126, 254, 510, 1_022])
    expect(minutes.slice(10)).toEqual(Array.from({ length: 10 }, (_, index) => 1_022 + 512 * (index + 1)))
    expect(minutes.at(-1)).toBe(6_142)
    expect(book.sent).toHaveLength(20)
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
    book.answers = () => OK
    book.sent = []
    await customer('while disabled')
    await rig.relay()
    pass(600)
    await send()
    expect(book.sent).toEqual([])
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
    book.answers = () => FAILED
    await send()
    pass(5 * 24 * 60)
    await customer('new')
    await rig.relay()
    await send()
    expect(names()).toEqual(['old', 'old'])
    pass(2 * 24 * 60)
    await send()
    expect(names()).toEqual(['old', 'old', 'new'])
    expect((await read(id))['penalty_box_data']).toMatchObject({ retry_count: 3, event_id: book.sent[2]?.eventId })
    book.answers = () => OK
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
    book.answers = () => FAILED
    const mails = () =>
      rig.api.sql(`select user_id, kind, data from identity_mails where kind like 'WEBHOOK%' order by created_at, id`)
    const step = async () => {
      book.now = Date.parse((await read(id))['penalty_box_data']?.retry_at ?? new Date(book.now).toISOString())
      rig.api.clock.set(book.now)
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
    book.answers = () => FAILED
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
    book.answers = () => OK
    book.sent = []
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
    book.answers = () => FAILED
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

  test.each([
    ['switched off', { active: false }, ['a']],
    ['given another address', { url: 'https://hooks.example.com/other' }, ['a', 'b', 'c']],
  ])('takes effect within a turn: the rest of it is not sent to a webhook that is %s', async (_name, change, sent) => {
    const { id, url } = await webhook()
    for (const name of ['a', 'b', 'c']) await customer(name)
    await rig.relay()
    const during: Post = async request => {
      await tenant().call('PATCH', `/v1/webhooks/${id}`, change)
      return post(request)
    }
    await rig.send({ post: during, reliesMs: 0 })
    expect(names()).toEqual(sent)
    expect(book.sent.filter(({ path }) => url.endsWith(path)).map(({ name }) => name)).toEqual(['a'])
  })

  test('and on again during an attempt sends nothing before that attempt has ended', async () => {
    const { id } = await webhook()
    for (const name of ['a', 'b']) await customer(name)
    await rig.relay()
    const during: Post = async request => {
      if (book.sent.length > 0) return post(request)
      for (const active of [false, true]) await tenant().call('PATCH', `/v1/webhooks/${id}`, { active })
      await customer('c')
      await rig.relay()
      expect(await takeQueues(rig.system, { isSlow: false, limit: 10 })).toEqual([])
      return post(request)
    }
    await rig.send({ post: during, reliesMs: 0 })
    expect(names()).toEqual(['a', 'c'])
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
