// Links to documents: they need no API key, show one invoice of one tenant, and expire.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seal } from '../../../../../shared/secrets/seal.ts'
import { instantOf } from '../../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { succeed } from '../../../billing/testing/billed-subscription.ts'
import { seedInvoice } from '../../../billing/testing/seed-invoice.ts'

let api: ApiHarness
let tenant: TestTenant
let invoice: Row
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aTest
  const draft = await seedInvoice(api, tenant)
  invoice = await succeed(tenant, 'PATCH', `/v1/invoices/${draft['id']}`, { status: 'FINAL' })
})
afterAll(() => api?.close())

const linkTo = (query = '') => succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}/download-url${query}`)
const follow = (url: string) => api.app.inject({ method: 'GET', url: url.slice(url.indexOf('/documents?')) })

test('a link gives the same file as the call, and says when it expires', async () => {
  const link = await linkTo()
  expect(link).toMatchObject({ resource: { type: 'INVOICE', id: invoice['id'] } })
  expect(Date.parse(link['expire_at']) - api.clock.now()).toBeGreaterThan(9 * 60_000)
  const [linked, called] = await Promise.all([
    follow(link['url']),
    api.app.inject({
      method: 'GET',
      url: `/v1/invoices/${invoice['id']}/pdf`,
      headers: { 'x-api-key': tenant.key },
    }),
  ])
  expect([linked.statusCode, linked.headers['content-type']]).toEqual([200, 'application/pdf'])
  expect(linked.headers).toMatchObject({ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' })
  expect(linked.rawPayload.equals(called.rawPayload)).toBe(true)
})

test('a page can do nothing but be displayed', async () => {
  const page = await follow((await linkTo('?format=HTML'))['url'])
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  expect(page.body).toContain(invoice['invoice_number'])
  const refused = await tenant.call('GET', `/v1/invoices/${invoice['id']}/download-url?format=DOCX`)
  expect([refused.status, refused.body['field']]).toEqual([400, 'format'])
})

test('a link that is expired, changed, forged or sealed for another purpose opens nothing', async () => {
  const { url } = await linkTo()
  const before = api.clock.now()
  api.clock.set(instantOf(before + 10 * 60_000))
  const over = await follow(url)
  api.clock.set(instantOf(before))
  expect([over.statusCode, over.json().code]).toEqual([404, 'RESOURCE_NOT_FOUND'])
  const other = await seal('another secret that nobody knows at all', 'invoice-document', '{}')
  const wrong = [`?token=${other}`, '?token=x', `?token=${'a'.repeat(3_000)}`, '?token=a&token=b', '']
  for (const query of [...wrong, `${url.slice(url.indexOf('?'), -6)}AAAAAA`]) {
    const answer = await follow(`/documents${query || '?'}`)
    expect([query, answer.statusCode, answer.json().code]).toEqual([query, 404, 'RESOURCE_NOT_FOUND'])
  }
})

test('another tenant gets no link to it', async () => {
  const foreign = await api.tenants.bLive.call('GET', `/v1/invoices/${invoice['id']}/download-url`)
  expect([foreign.status, foreign.body['code']]).toEqual([404, 'RESOURCE_NOT_FOUND'])
})
