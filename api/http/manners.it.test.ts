// How the api answers requests that no route is about, and what every answer carries.
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { productResource } from '../modules/catalog/products/product.ts'
import { type ApiHarness, startApi, type TestTenant } from '../testing/harness.ts'

let api: ApiHarness
let a: TestTenant
let port: number
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aLive
  const address = await api.app.listen({ port: 0, host: '127.0.0.1' }).catch(() => null)
  port = address === null ? 0 : Number(new URL(address).port)
})
afterAll(() => api?.close())

const ENVELOPE = { type: 'INVALID_REQUEST', code: expect.any(String), message: expect.stringMatching(/\.$/) }

describe('one shape of error', () => {
  test.each([
    ['an id that is too long', 'GET', `/v1/customers/${'x'.repeat(300)}`, 414],
    ['a path that cannot be read', 'GET', '/v1/customers/%zz', 400],
    ['a method that a known path does not have', 'PUT', '/v1/meters', 405],
    ['a method that a known path with an id does not have', 'POST', '/v1/customers/abc', 405],
    ['a path that is nowhere', 'GET', '/v1/nonsense', 404],
  ])('%s', async (_what, method, url, status) => {
    const { body, headers, ...answer } = await a.call(method, url)
    expect(answer.status).toBe(status)
    expect(body).toMatchObject(ENVELOPE)
    expect(String(headers['x-request-id'])).toMatch(/^reqr_/)
    expect(headers['content-type']).toBe('application/json')
    expect(headers['link']).toMatch(/^<\/docs\/errors#[a-z_]+>; rel="help"$/)
  })

  test('the icon of the pages is a picture', async () => {
    const { status, headers } = await a.call('GET', '/favicon.ico')
    expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml'])
  })

  test('405 and OPTIONS say which methods there are', async () => {
    const refused = await a.call('PUT', '/v1/meters')
    expect(refused.headers['allow']).toBe('GET, HEAD, POST, OPTIONS')
    const options = await a.call('OPTIONS', '/v1/customers/abc')
    expect([options.status, options.headers['allow']]).toEqual([204, 'GET, HEAD, PATCH, DELETE, OPTIONS'])
    expect(options.headers).not.toHaveProperty('access-control-allow-origin')
    expect((await a.call('OPTIONS', '/v1/nonsense')).status).toBe(404)
  })

  test.each([
    ['text/plain', '{"name":"x"}', {}, 415, /application\/json/],
    ['application/json', gzipSync('{"name":"x"}'), { 'content-encoding': 'gzip' }, 415, /Content-Encoding/],
    ['application/json', '{"name":"x","name":"y"}', {}, 400, /given twice/],
    ['application/json', '{"name":"x","a":{"b":1,"\\u0062":2}}', {}, 400, /given twice/],
    ['application/json', '{"name":"x","__proto__":{"y":1}}', {}, 400, /__proto__ is not accepted/],
    ['application/json', '{"name":', {}, 400, /not valid JSON/],
    ['application/json', 'null', {}, 400, /^The body must be a JSON object\.$/],
    ['application/json', '', {}, 400, /^The body must be a JSON object\.$/],
  ])('a body as %s: %s %o is refused with %i', async (type, body, headers, status, message) => {
    const answer = await a.call('POST', '/v1/products', body, { 'content-type': type, ...headers })
    expect(answer.status).toBe(status)
    expect(answer.body['message']).toMatch(message)
  })

  test.each([
    ['POST', '/v1/payments/x/reverse', { amount: { quantity: '1', currency: 'EUR' } }, 'amount'],
    ['POST', '/v1/invoices/x/refund', { amount: { quantity: '1', currency: 'EUR' } }, 'amount'],
    ['POST', '/v1/invoices/x/void', { reason: 'a mistake' }, 'reason'],
    ['POST', '/v1/wallet-grants/x/revert', { grant_amount: null }, 'grant_amount'],
    ['POST', '/v1/events/x/delete', { reason: 'a mistake' }, 'reason'],
    ['DELETE', '/v1/products/x', { force: true }, 'force'],
  ])('%s %s takes no body, and names the first member of one that is sent', async (method, url, body, field) => {
    const answer = await a.call(method, url, body)
    expect(answer).toMatchObject({ status: 400, body: { ...ENVELOPE, code: 'INVALID_FIELD', field } })
    expect(answer.body['message']).toContain('takes no body')
  })

  test('an empty body is the same as none where none is taken', async () => {
    const { id } = await a.seed.make(productResource)
    expect((await a.call('POST', `/v1/products/${id}/activate`, {})).status).toBe(200)
    expect((await a.call('POST', `/v1/products/${id}/activate`, [])).body).toMatchObject({ code: 'INVALID_REQUEST' })
  })

  test.each([
    ['GET', '/v1/permissions?limit=2', 'limit'],
    ['GET', '/v1/test-clocks?starting_after=x', 'starting_after'],
    ['GET', '/v1/catalog?expand[]=ALL', 'expand[]'],
    ['GET', '/v1/customers/x/entitlements?status=ACTIVE', 'status'],
    ['POST', '/v1/events/x/delete?dry_run=true', 'dry_run'],
    ['POST', '/v1/invoices/x/void?dry_run=true', 'dry_run'],
  ])('%s %s takes no query, and names what is sent', async (method, url, field) => {
    const answer = await a.call(method, url)
    expect(answer).toMatchObject({ status: 400, body: { ...ENVELOPE, code: 'INVALID_FIELD', field } })
  })

  test('colons and quotes in texts are no keys', async () => {
    const name = 'a "quoted": \\ text: {"x": 1}'
    const answer = await a.call('POST', '/v1/products', { name, reference: a.seed.unique('colon') })
    expect([answer.status, answer.body['name']]).toEqual([201, name])
  })

  test('a file is taken as CSV, and the refusal of another type says so', async () => {
    const answer = await a.call('PUT', '/v1/files/x/content', {})
    expect([answer.status, answer.body['message']]).toEqual([415, 'Send the body as text/csv.'])
  })

  test('headers that are too large, and what is no HTTP, are answered in the same shape', async () => {
    const large = await raw(`GET / HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(large).toMatch(/^HTTP\/1\.1 431 /)
    expect(JSON.parse(large.split('\r\n\r\n')[1] ?? '')).toMatchObject(ENVELOPE)
    const nonsense = await raw('nonsense\r\n\r\n')
    expect(nonsense).toMatch(/^HTTP\/1\.1 400 [\s\S]*x-request-id: reqr_/)
  })

  test('a status that is not one of those it may be is named', async () => {
    const answer = await a.call('PATCH', '/v1/invoices/x', { status: 'DRAFT' })
    expect(answer.body['message']).toBe('status must be one of FINAL, VOID.')
  })

  test('a status that is cleared, and a name of spaces alone, are refused by name', async () => {
    const { id } = await a.seed.make(productResource)
    expect((await a.call('PATCH', `/v1/products/${id}`, { status: null })).body).toMatchObject({
      code: 'INVALID_FIELD',
      field: 'status',
      message: 'status cannot be cleared; send the new status.',
    })
    const named = await a.call('POST', '/v1/products', { name: '   ', reference: a.seed.unique('spaces') })
    expect(named).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD', field: 'name' } })
  })

  test('the bounds of page and limit are named', async () => {
    expect((await a.call('GET', '/v1/products?limit=1000')).body['message']).toMatch(/from 1 to 100/)
    expect((await a.call('GET', '/v1/products?page=9999999')).body['message']).toMatch(/1000000|1,000,000/)
  })
})

describe('every answer', () => {
  test.each(['/v1/customers', '/v1/nonsense', '/v1/openapi.json', '/v1/docs', '/console', '/'])(
    '%s carries the headers that keep it harmless',
    async url => {
      const { headers } = await a.call('GET', url)
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' })
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'/)
    },
  )

  test('tenants’ data is never stored by what stands in between', async () => {
    for (const url of ['/v1/customers', '/v1/customers/nothing']) {
      expect((await a.call('GET', url)).headers['cache-control']).toBe('no-store')
    }
  })

  test('a trailing slash makes no difference', async () => {
    expect((await a.call('GET', '/v1/products/')).status).toBe(200)
    const made = await a.call('POST', '/v1/products/', { name: 'x', reference: a.seed.unique('slash') })
    expect(made.status).toBe(201)
  })

  test('HEAD is answered as GET is, without the body', async () => {
    const answer = await api.app.inject({ method: 'HEAD', url: '/v1/products', headers: { 'x-api-key': a.key } })
    expect([answer.statusCode, answer.body]).toEqual([200, ''])
  })

  test('what has not changed is not sent again', async () => {
    const made = await a.call('POST', '/v1/products', { name: 'x', reference: a.seed.unique('tag') })
    const url = `/v1/products/${made.body['id']}`
    const first = await a.call('GET', url)
    const tag = String(first.headers['etag'])
    expect(tag).toMatch(/^W\/"/)
    expect((await a.call('GET', url, undefined, { 'if-none-match': tag })).status).toBe(304)
    await a.call('PATCH', url, { name: 'y' })
    expect((await a.call('GET', url, undefined, { 'if-none-match': tag })).status).toBe(200)
  })

  test('a large answer is compressed for who takes it, and a small one is not', async () => {
    for (let index = 0; index < 12; index += 1) await a.seed.make(productResource)
    const get = (url: string) =>
      api.app.inject({ method: 'GET', url, headers: { 'x-api-key': a.key, 'accept-encoding': 'gzip, br' } })
    const large = await get('/v1/products?limit=100')
    expect([large.headers['content-encoding'], large.headers['vary']]).toEqual(['gzip', 'accept-encoding'])
    expect((await get('/v1/products?limit=1')).headers['content-encoding']).toBeUndefined()
  })
})

describe('what is the same for everyone', () => {
  test('the description is sent compressed and with a tag, and not again to who has it', async () => {
    for (const [taken, encoding] of [
      ['gzip, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
    ] as const) {
      const get = (more: Record<string, string> = {}) =>
        api.app.inject({ method: 'GET', url: '/v1/openapi.json', headers: { 'accept-encoding': taken, ...more } })
      const answer = await get()
      expect([answer.statusCode, answer.headers['content-encoding']]).toEqual([200, encoding])
      expect(answer.headers['cache-control']).toMatch(/max-age=\d+/)
      expect(answer.rawPayload.length).toBeLessThan(200_000)
      expect((await get({ 'if-none-match': String(answer.headers['etag']) })).statusCode).toBe(304)
    }
    const plain = await a.call('GET', '/v1/openapi.json')
    expect(Object.keys(plain.body['components'].schemas).length).toBeGreaterThan(200)
  })

  test('the reference is pages of our own, light and searchable, with links to every operation', async () => {
    const index = await a.call('GET', '/v1/docs')
    const html: string = index.body['text']
    expect(index.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(html.length).toBeLessThan(200_000)
    expect(html).toContain('<input id="search" type="search"')
    expect(html.match(/<li><a href=/g)?.length).toBeGreaterThan(180)
    const links = [...html.matchAll(/href="(\/v1\/docs\/[^"#]+)#([^"]+)"/g)]
    const pages = new Map<string, string>()
    for (const [, path = '', id] of links) {
      if (!pages.has(path)) pages.set(path, (await a.call('GET', path)).body['text'])
      expect(pages.get(path)).toContain(`id="${id}"`)
    }
    const shapes: string = (await a.call('GET', '/v1/docs/shapes')).body['text']
    expect(shapes.length).toBeLessThan(100_000)
    expect(shapes).toContain('<li id="Customer"><a href="/v1/docs/shapes/Customer">')
    const shape: string = (await a.call('GET', '/v1/docs/shapes/Invoice')).body['text']
    expect(shape).toContain('<a href="/v1/docs/shapes/Money">')
    expect(shape.length).toBeLessThan(50_000)
    expect(shape).not.toMatch(/<script|onclick|style=/)
    expect((await a.call('GET', '/v1/docs/shapes/Nonsense')).status).toBe(404)
    // What the pages of operations link to is there.
    for (const page of pages.values())
      for (const [, name] of page.matchAll(/href="\/v1\/docs\/shapes\/([^"]+)"/g))
        expect(shapes).toContain(`<li id="${name}">`)
    expect((await a.call('GET', '/v1/docs/search.js')).headers['content-type']).toMatch(/^text\/javascript/)
  })

  test.each(['/', '/console', '/docs', '/v1/docs'])(
    '%s is a page with a language, a title, an icon and a main part',
    async url => {
      const { body, headers } = await a.call('GET', url, undefined, { accept: 'text/html,*/*' })
      const icon = '<link rel="icon" href="/favicon.ico">'
      for (const part of ['<html lang="en">', '<title>', icon, '<main', '</main>', '<h1'])
        expect(body['text']).toContain(part)
      expect(headers['content-security-policy']).toContain("img-src 'self'")
    },
  )

  test('the base address is a page for people and links for programs', async () => {
    const html = await a.call('GET', '/', undefined, { accept: 'text/html,*/*' })
    for (const link of ['/console', '/v1/docs', '/docs/quick-start', '/docs'])
      expect(html.body['text']).toContain(`href="${link}"`)
    expect((await a.call('GET', '/')).body).toMatchObject({
      name: 'Millrace',
      links: { docs: '/docs', api_reference: '/v1/docs' },
    })
  })
})

/** Sends bytes as they are and gives what comes back. */
const raw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', chunk => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
