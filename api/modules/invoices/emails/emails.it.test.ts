// Invoices sent by e-mail: to whom, once per request, again while the server is away, and what became of it. Real PostgreSQL and SMTP.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asSystem, inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { smtpOf } from '../../../../shared/mail/transport.ts'
import { type SmtpServer, startSmtpServer } from '../../../../shared/testing/smtp-server.ts'
import { runJob } from '../../../jobs/testing/run-job.ts'
import { expectPayloads } from '../../../testing/event-payloads.ts'
import { type ApiHarness, startOwnApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'
import { openWorker } from '../../../testing/worker.ts'
import type { OutboxRow } from '../../../workers/outbox-row.ts'
import { runReactions } from '../../../workers/reaction.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { emailJobs, emailReactions } from './jobs.ts'
import { sendAutomatically } from './schedule-email.ts'
import { CLAIM_MS, type EmailDeps, sendEmails } from './send-emails.ts'

const answers = new Map<string, string | null>()
let api: ApiHarness
let tenant: TestTenant
let server: SmtpServer
let mail: NonNullable<EmailDeps['mail']>
beforeAll(async () => {
  api = await startOwnApi({ usage: NO_USAGE, sendsMail: true })
  tenant = api.tenants.aLive
  server = await startSmtpServer({ answerTo: recipient => answers.get(recipient) })
  const opened = smtpOf({ SMTP_URL: `smtp://127.0.0.1:${server.port}`, MAIL_FROM: 'Billing <billing@example.com>' })
  if (!opened) throw new Error('a server is set')
  mail = opened
})
afterAll(async () => {
  mail?.transport.close()
  await server?.close()
  await api?.close()
})

let count = 0
/** A FINAL invoice of a customer with these fields, and its contacts' addresses. */
async function issued(customer: object = {}, contacts: readonly object[] = [], status = 'FINAL') {
  count += 1
  const { id: customer_id } = await succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('acme'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    email: `billing-${count}@acme.example`,
    locale: 'de-DE',
    organization: { legal_name: 'Acme GmbH', registered_address: { country: 'DE' } },
    ...customer,
  })
  for (const contact of contacts)
    await succeed(tenant, 'POST', '/v1/contacts', { customer_id, reference: tenant.seed.unique('contact'), ...contact })
  const entity = await succeed(tenant, 'POST', '/v1/billing-entities', {
    reference: tenant.seed.unique('main'),
    legal_name: 'Millrace B.V.',
    email: 'accounts@millrace.example',
    registered_address: { country: 'NL' },
  })
  const { id } = await succeed(tenant, 'POST', '/v1/invoices', {
    customer_id,
    billing_entity_id: entity['id'],
    lines: [
      {
        pricing_name: 'Workshop',
        pricing_type: 'FIXED',
        pricing_band: { amount: { quantity: '450', currency: 'EUR' } },
      },
    ],
  })
  if (status === 'FINAL') await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, { status })
  return { id: idOf('invo', String(id)), url: `/v1/invoices/${id}`, to: `billing-${count}@acme.example` }
}
type Issued = Awaited<ReturnType<typeof issued>>

const order = ({ url }: Issued, headers?: Record<string, string>) =>
  tenant.call('POST', `${url}/send_by_email`, {}, headers)
const run = ({ id }: Issued, more: Partial<EmailDeps> = {}, last = false) =>
  sendEmails({ database: api.database, mail, ...more }, { tenant: tenant.tenant, invoiceId: id, last })
const outcomes = async ({ url }: Issued): Promise<Row[]> => (await succeed(tenant, 'GET', `${url}/emails`))['data']
const eventsOf = async ({ id }: Issued): Promise<string[]> =>
  (await noticesOf(api, id)).map(({ type }) => type).filter(type => type.includes('EMAIL'))
const lettersTo = (address: string) => server.received.filter(({ to }) => to.includes(address))

test('goes with the PDF to the customer and its contacts, in their language, once for one request', async () => {
  const invoice = await issued({}, [
    { email: 'ada@acme.example' },
    {
      email: 'quiet@acme.example',
      notification_preferences: [{ type: 'INVOICE', channels: [{ type: 'EMAIL', enabled: false }] }],
    },
    {},
  ])
  const key = { 'idempotency-key': tenant.seed.unique('send') }
  const [first, again] = [await order(invoice, key), await order(invoice, key)]
  expect([first.status, again.status]).toEqual([200, 200])
  expect(first.body).toMatchObject({ id: invoice.id, status: 'FINAL' })
  expect(await outcomes(invoice)).toMatchObject([{ status: 'SCHEDULED', trigger_type: 'MANUAL' }])
  await run(invoice)
  await run(invoice)
  const letters = lettersTo(invoice.to)
  expect(letters.map(({ from, to }) => [from, to])).toEqual([['billing@example.com', [invoice.to, 'ada@acme.example']]])
  const data = letters[0]?.data ?? ''
  expect(data).toMatch(/^Reply-To: accounts@millrace\.example$/m)
  expect(data).toMatch(/^Content-Type: text\/plain/m)
  expect(data).toMatch(/^Content-Type: text\/html/m)
  expect(data).toContain('Anbei erhalten Sie die Rechnung')
  const attached = /^Content-Type: application\/pdf[\s\S]*?\n\n([\w+/=\n]+)/m.exec(data)?.[1] ?? ''
  const pdf = await api.app.inject({ url: `${invoice.url}/pdf`, headers: { 'x-api-key': tenant.key } })
  expect(Buffer.from(attached, 'base64').equals(pdf.rawPayload)).toBe(true)
  expect(await outcomes(invoice)).toMatchObject([{ status: 'SENT', message: null, sent_at: expect.any(String) }])
  expect(await eventsOf(invoice)).toEqual(['INVOICE.SEND_BY_EMAIL', 'INVOICE.EMAIL_SENT'])
  await expectPayloads(api, invoice.id, ['INVOICE.SEND_BY_EMAIL', 'INVOICE.EMAIL_SENT'])
  expect((await api.tenants.bLive.call('GET', `${invoice.url}/emails`)).status).toBe(404)
})

test('refuses what cannot be sent, and schedules nothing', async () => {
  const [draft, withoutAddress] = [await issued({}, [], 'DRAFT'), await issued({ email: null })]
  const { app, close } = await api.appWith({ usage: NO_USAGE })
  const unsent = await issued()
  const headers = { 'x-api-key': tenant.key, 'content-type': 'application/json' }
  const without = await app.inject({ method: 'POST', url: `${unsent.url}/send_by_email`, headers, payload: '{}' })
  await close()
  for (const [body, message] of [
    [(await order(draft)).body, 'Only a FINAL invoice is sent; this one is DRAFT.'],
    [(await order(withoutAddress)).body, 'has an e-mail address'],
    [without.json(), 'SMTP_URL and MAIL_FROM'],
  ]) {
    expect(body['code']).toBe('INVALID_OPERATION')
    expect(body['message']).toContain(message)
  }
  for (const invoice of [draft, withoutAddress, unsent])
    expect([await outcomes(invoice), await eventsOf(invoice)]).toEqual([[], []])
})

test('is tried again while the server does not take it, ends as FAILED, and keeps no address', async () => {
  const [busy, refused, part] = [await issued(), await issued(), await issued({}, [{ email: 'gone@acme.example' }])]
  answers.set(busy.to, '451 try later').set(refused.to, '550 no such mailbox').set('gone@acme.example', '550 gone')
  for (const invoice of [busy, refused, part]) expect((await order(invoice)).status).toBe(200)
  const fault = await run(busy).then(
    () => null,
    (error: Error) => error,
  )
  expect(fault?.message).toContain('it is tried again')
  expect(`${fault?.message} ${fault?.stack} ${fault?.cause}`).not.toContain('acme.example')
  expect(await outcomes(busy)).toMatchObject([{ status: 'SCHEDULED' }])
  await run(busy, {}, true)
  await run(refused)
  await run(part)
  for (const invoice of [busy, refused]) {
    expect(await outcomes(invoice)).toMatchObject([{ status: 'FAILED', message: expect.any(String), sent_at: null }])
    expect(await eventsOf(invoice)).toEqual(['INVOICE.SEND_BY_EMAIL', 'INVOICE.EMAIL_FAILED'])
  }
  expect(await outcomes(part)).toMatchObject([
    { status: 'SENT', message: 'The mail server refused 1 of 2 recipients.' },
  ])
  await expectPayloads(api, refused.id, ['INVOICE.EMAIL_FAILED'])
  const unset = await issued()
  await order(unset)
  await run(unset, { mail: null })
  expect(await outcomes(unset)).toMatchObject([{ status: 'FAILED', message: expect.stringContaining('SMTP_URL') }])
})

test('is sent by one worker alone, and by another once that one died, under the same id', async () => {
  const [shared, invoice] = [await issued(), await issued()]
  await order(shared)
  await Promise.all([run(shared), run(shared), run(shared)])
  expect(lettersTo(shared.to)).toHaveLength(1)
  await order(invoice)
  const die = () => Promise.reject(new Error('killed'))
  await expect(run(invoice, { failpoint: die })).rejects.toThrow('killed')
  await run(invoice)
  expect(await outcomes(invoice)).toMatchObject([{ status: 'SCHEDULED' }])
  expect(lettersTo(invoice.to)).toHaveLength(1)
  api.clock.set(api.clock.now() + CLAIM_MS)
  await run(invoice)
  const ids = lettersTo(invoice.to).map(({ data }) => /^Message-ID: (.*)$/m.exec(data)?.[1])
  expect(ids).toEqual([ids[0], ids[0]])
  expect(ids[0]).toMatch(/^<inem_\w{22}@example\.com>$/)
  expect(await eventsOf(invoice)).toEqual(['INVOICE.SEND_BY_EMAIL', 'INVOICE.EMAIL_SENT'])
})

test('a mail server that is slow is left before the claim ends, and a worker without its claim stores nothing', async () => {
  const slow = await issued()
  await order(slow)
  answers.set(slow.to, null)
  await expect(run(slow, { sendMs: 100 })).rejects.toThrow('it is tried again')
  expect(await outcomes(slow)).toMatchObject([{ status: 'SCHEDULED' }])
  answers.delete(slow.to)
  // While the first worker stores what became of its letter, its claim has ended and another one has sent the letter again.
  const takenOver = async () => {
    api.clock.set(api.clock.now() + CLAIM_MS)
    await expect(run(slow, { failpoint: () => Promise.reject(new Error('killed')) })).rejects.toThrow('killed')
  }
  await run(slow, { failpoint: takenOver })
  expect(await outcomes(slow)).toMatchObject([{ status: 'SCHEDULED' }])
  api.clock.set(api.clock.now() + CLAIM_MS)
  await run(slow)
  expect(await outcomes(slow)).toMatchObject([{ status: 'SENT' }])
  expect(await eventsOf(slow)).toEqual(['INVOICE.SEND_BY_EMAIL', 'INVOICE.EMAIL_SENT'])
})

test('a platform that says so sends each invoice once by itself', async () => {
  const settle = async ({ id }: Issued) =>
    await inTenant(api.database, tenant.tenant, SERVICE, uow => sendAutomatically(uow, [id]))
  const [before, draft, sent] = [await issued(), await issued({}, [], 'DRAFT'), await issued()]
  await settle(before)
  expect(await outcomes(before)).toEqual([])
  const platform = `/v1/platforms/${tenant.tenant.platformId}`
  await succeed(tenant, 'PATCH', platform, { invoice_settings: { send_by_email: { trigger_type: 'AUTOMATIC' } } })
  for (const invoice of [draft, sent, sent]) await settle(invoice)
  await succeed(tenant, 'PATCH', platform, { invoice_settings: null })
  await run(sent)
  expect(await outcomes(draft)).toEqual([])
  expect(await outcomes(sent)).toMatchObject([{ trigger_type: 'AUTOMATIC', status: 'SENT' }])
  expect(lettersTo(sent.to)).toHaveLength(1)
})

test('a change queues its job, and a letter whose job was lost gets one again', async () => {
  const worker = await openWorker(api)
  const deps = { ...worker.deps, mail }
  /** What the relay does with the changes of an invoice, and then the queue with its jobs. */
  const relay = async ({ id }: Issued) => {
    const rows = (await noticesOf(api, id)) as OutboxRow[]
    const changes = { heads: rows, bodies: new Map<string, OutboxRow>() }
    await asSystem(deps.system, 'find-lost-invoice-emails', tx => runReactions(tx, emailReactions, changes))
    return await worker.takeQueued()
  }
  const platform = `/v1/platforms/${tenant.tenant.platformId}`
  await succeed(tenant, 'PATCH', platform, { invoice_settings: { send_by_email: { trigger_type: 'AUTOMATIC' } } })
  const invoice = await issued()
  const final = await relay(invoice)
  expect(final.map(({ name }) => name)).toEqual(['send-final-invoices'])
  await runJob(emailJobs, 'send-final-invoices', deps, final[0]?.['payload'])
  await succeed(tenant, 'PATCH', platform, { invoice_settings: null })
  const send = (await relay(invoice)).find(({ name }) => name === 'send-invoice-emails')
  const find = async () => {
    await runJob(emailJobs, 'find-lost-invoice-emails', deps)
    return (await worker.takeQueued()).map(({ payload }) => payload['id'])
  }
  expect(await find()).toEqual([])
  api.clock.set(api.clock.now() + CLAIM_MS + 1_000)
  expect(await find()).toEqual([invoice.id])
  expect(await find()).toEqual([invoice.id])
  await runJob(emailJobs, 'send-invoice-emails', deps, send?.['payload'])
  expect(await outcomes(invoice)).toMatchObject([{ trigger_type: 'AUTOMATIC', status: 'SENT' }])
  expect(await find()).toEqual([])
  await worker.close()
})
