// Links to documents: they need no API key, show one invoice of one tenant, and expire.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

describe('e-invoices', () => {
  const read = (path: string, id = invoice['id'], of = tenant) =>
    api.app.inject({ method: 'GET', url: `/v1/invoices/${id}${path}`, headers: { 'x-api-key': of.key } })

  test('what the standard needs and the invoice lacks is refused with its field, in a call and before a link', async () => {
    for (const path of ['/ubl21', '/factur-x', '/download-url?format=UBL', '/download-url?format=FACTUR_X']) {
      const refused = await read(path)
      expect([path, refused.statusCode, refused.json()]).toMatchObject([
        path,
        400,
        { code: 'INVALID_OPERATION', field: 'billing_entity.tax_id' },
      ])
    }
    const draft = await seedInvoice(api, tenant)
    expect((await read('/ubl21', draft['id'])).json()).toMatchObject({ code: 'INVALID_OPERATION', field: 'status' })
    expect((await read('/factur-x', invoice['id'], api.tenants.bLive)).statusCode).toBe(404)
  })

  test('an invoice and its credit note come as UBL and as Factur-X, by call and by link', async () => {
    const draft = await seedInvoice(api, tenant)
    await succeed(tenant, 'PATCH', `/v1/billing-entities/${draft['billing_entity_id']}`, { tax_id: 'NL123456789B01' })
    await succeed(tenant, 'POST', `/v1/invoices/${draft['id']}/refresh`, { types: ['FULL'] })
    const final = await succeed(tenant, 'PATCH', `/v1/invoices/${draft['id']}`, { status: 'FINAL' })
    const credit = await succeed(tenant, 'POST', `/v1/invoices/${draft['id']}/credit`, {})
    await succeed(tenant, 'PATCH', `/v1/invoices/${credit['id']}`, { status: 'FINAL' })

    const [ubl, facturX, ofCredit] = [
      await read('/ubl21?include_invoice_pdf=true', final['id']),
      await read('/factur-x', final['id']),
      await read('/ubl21', credit['id']),
    ]
    expect([ubl.statusCode, ubl.headers['content-type']]).toEqual([200, 'application/xml'])
    expect(ubl.headers['content-disposition']).toBe(`inline; filename="${final['invoice_number']}.xml"`)
    expect(ubl.body).toContain(`<cbc:ID>${final['invoice_number']}</cbc:ID>`)
    expect(ubl.body).toContain('mimeCode="application/pdf"')
    expect([facturX.statusCode, facturX.headers['content-type']]).toEqual([200, 'application/pdf'])
    expect(facturX.rawPayload.includes('factur-x.xml')).toBe(true)
    expect(ofCredit.body).toMatch(
      new RegExp(`<cac:InvoiceDocumentReference>\\s*<cbc:ID>${final['invoice_number']}</cbc:ID>`),
    )

    const link = await succeed(tenant, 'GET', `/v1/invoices/${final['id']}/download-url?format=FACTUR_X`)
    expect((await follow(link['url'])).rawPayload.equals(facturX.rawPayload)).toBe(true)
    const ublLink = await succeed(tenant, 'GET', `/v1/invoices/${credit['id']}/download-url?format=UBL`)
    expect((await follow(ublLink['url'])).body).toBe(ofCredit.body)
  })
})
