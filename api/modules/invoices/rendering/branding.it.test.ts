// Logo, colour, units and payment acceptors on documents, through the API; and what payment acceptors refuse.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { seedInvoice } from '../../billing/testing/seed-invoice.ts'
import { BRANDED } from './testing/fixtures.ts'
import { readPdf } from './testing/read-pdf.ts'

let api: ApiHarness
let tenant: TestTenant
let entity: Row
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aTest
})
afterAll(() => api?.close())

const platform = () => `/v1/platforms/${tenant.tenant.platformId}`
const account = (more: object = {}) => ({
  billing_entity_id: entity['id'],
  reference: `account-${Math.random()}`,
  type: 'BANK_ACCOUNT',
  bank_account: { type: 'IBAN', iban: 'NL91 ABNA 0417 1643 00', bic: 'ABNANL2A', bank_name: 'ABN AMRO' },
  ...more,
})

const pdfOf = async (id: string): Promise<Buffer> => {
  const url = `/v1/invoices/${id}/pdf`
  return (await api.app.inject({ method: 'GET', url, headers: { 'x-api-key': tenant.key } })).rawPayload
}

const branding = (primary: string) => ({
  colors: { primary },
  logo: { content_type: 'image/png', content: BRANDED.logo?.content.toString('base64') },
})

const later = (): void => api.clock.set(instantOf(api.clock.now() + 1_000))

test('a FINAL invoice keeps logo and colour of its time, and a draft shows those of now', async () => {
  const [first, second, draft] = [
    await seedInvoice(api, tenant),
    await seedInvoice(api, tenant),
    await seedInvoice(api, tenant),
  ]
  await succeed(tenant, 'PATCH', `/v1/invoices/${first['id']}`, { status: 'FINAL' })
  const plain = await pdfOf(first['id'])
  expect((await readPdf(plain)).roles).not.toContain('Figure')
  later()
  await succeed(tenant, 'PATCH', platform(), { branding: branding('#0b6e4f') })
  expect((await pdfOf(first['id'])).equals(plain)).toBe(true)
  later()
  await succeed(tenant, 'PATCH', `/v1/invoices/${second['id']}`, { status: 'FINAL' })
  const branded = await pdfOf(second['id'])
  expect((await readPdf(branded)).roles).toContain('Figure')
  const ofDraft = await pdfOf(draft['id'])
  expect((await readPdf(ofDraft)).roles).toContain('Figure')
  later()
  await succeed(tenant, 'PATCH', platform(), { branding: { colors: { primary: '#112233' }, logo: null } })
  expect((await pdfOf(second['id'])).equals(branded)).toBe(true)
  expect((await pdfOf(first['id'])).equals(plain)).toBe(true)
  expect((await readPdf(await pdfOf(draft['id']))).roles).not.toContain('Figure')
})

test('a FINAL invoice shows the ACTIVE acceptors of its billing entity', async () => {
  const draft = await seedInvoice(api, tenant)
  entity = await succeed(tenant, 'GET', `/v1/billing-entities/${draft['billing_entity_id']}`)
  const other = await succeed(tenant, 'POST', '/v1/billing-entities', { reference: 'other-seller' })
  const invoice = await succeed(tenant, 'PATCH', `/v1/invoices/${draft['id']}`, { status: 'FINAL' })
  const without = await readPdf(await pdfOf(invoice['id']))
  expect(without.text).not.toContain('IBAN')
  await succeed(tenant, 'POST', '/v1/payment-acceptors', account())
  const redirect = { url: 'https://pay.example.com/now' }
  const shared = { billing_entity_id: entity['id'], type: 'CUSTOM_REDIRECT', custom_redirect: redirect }
  await succeed(tenant, 'POST', '/v1/payment-acceptors', { ...shared, reference: 'page' })
  const gone = { ...shared, reference: 'gone', status: 'DRAFT', custom_redirect: { url: 'https://gone.example.com/' } }
  await succeed(tenant, 'POST', '/v1/payment-acceptors', gone)
  const elsewhere = account({ billing_entity_id: other['id'] })
  const spanish = { ...elsewhere.bank_account, iban: 'ES9121000418450200051332' }
  await succeed(tenant, 'POST', '/v1/payment-acceptors', { ...elsewhere, bank_account: spanish })
  const first = await pdfOf(invoice['id'])
  const { text } = await readPdf(first)
  for (const part of ['NL91 ABNA 0417 1643 00', `Payment reference ${invoice['invoice_number']}`, redirect.url]) {
    expect(text).toContain(part)
  }
  expect(text).not.toMatch(/gone\.example|ES91/)
  const shown = await succeed(tenant, 'GET', `/v1/invoices/${invoice['id']}`)
  expect(shown['payment_actions']).toMatchObject([
    { type: 'BANK_ACCOUNT', bank_account: { iban: 'NL91ABNA0417164300', reference: invoice['invoice_number'] } },
    { type: 'CUSTOM_REDIRECT', custom_redirect: redirect },
  ])
  expect(shown['payment_actions'].map((action: Row) => action['payment_acceptor_id'])).toEqual(
    shown['payment_acceptor_ids'],
  )
  expect((await pdfOf(invoice['id'])).equals(first)).toBe(true)
})

describe('payment acceptors', () => {
  test.each<[string, object, string]>([
    ['a wrong check digit', { bank_account: { type: 'IBAN', iban: 'NL91ABNA0417164301' } }, 'bank_account.iban'],
    ['a wrong BIC', { bank_account: { type: 'IBAN', iban: 'NL91ABNA0417164300', bic: 'x' } }, 'bank_account.bic'],
    ['no account', { bank_account: null }, 'bank_account'],
    ['an account and a page', { custom_redirect: { url: 'https://x.example' } }, 'custom_redirect'],
    [
      'no https',
      { type: 'CUSTOM_REDIRECT', bank_account: null, custom_redirect: { url: 'http://x' } },
      'custom_redirect.url',
    ],
    [
      'a script',
      { type: 'CUSTOM_REDIRECT', bank_account: null, custom_redirect: { url: 'javascript:1' } },
      'custom_redirect.url',
    ],
    ['a gateway', { type: 'PAYMENT_GATEWAY' }, 'type'],
    ['no billing entity', { billing_entity_id: 'bill_none' }, 'billing_entity_id'],
  ])('refuses %s', async (_, more, field) => {
    const { status, body } = await tenant.call('POST', '/v1/payment-acceptors', account(more))
    expect([status, body['field']]).toEqual([status, field])
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
  })

  test('keep the IBAN without spaces, and are listed by billing entity', async () => {
    const made = await succeed(tenant, 'POST', '/v1/payment-acceptors', account())
    expect(made['bank_account'].iban).toBe('NL91ABNA0417164300')
    const { data } = await succeed(tenant, 'GET', `/v1/payment-acceptors?billing_entity_id=${entity['id']}`)
    expect(data.map(({ id }: Row) => id)).toContain(made['id'])
    expect((await succeed(tenant, 'GET', '/v1/payment-acceptors?billing_entity_id=none'))['data']).toEqual([])
    const refused = await tenant.call('DELETE', `/v1/payment-acceptors/${made['id']}`)
    expect([refused.status, refused.body['code']]).toEqual([409, 'COULD_NOT_DELETE_RESOURCE'])
    const draft = await succeed(tenant, 'POST', '/v1/payment-acceptors', account({ status: 'DRAFT' }))
    await succeed(tenant, 'DELETE', `/v1/payment-acceptors/${draft['id']}`)
  })
})
