// The documentation that the installation serves: every page, every link, every picture, and the search.
import Fastify from 'fastify'
import { beforeAll, describe, expect, test } from 'vitest'
import { handleError } from '../http/errors.ts'
import { MENU, readPages } from './read-pages.ts'
import { addressOf, anchorOf, escapeHtml, renderMarkdown } from './render-page.ts'
import { docsRoutes } from './routes.ts'

const app = Fastify()
beforeAll(async () => {
  app.setErrorHandler(handleError)
  docsRoutes(app)
  await app.ready()
})
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers })
const pages = readPages()

test('every page of the menu exists', () => {
  expect(MENU.filter(path => !pages.some(page => page.path === path))).toEqual([])
})

describe.each(pages.map(({ path, title }) => ({ path, title })))('/docs/$path', ({ path, title }) => {
  test('is served, and every link of it leads to an anchor that is served', async () => {
    const { statusCode, body, headers } = await get(`/docs/${path}`)
    expect(statusCode).toBe(200)
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    expect(body).toContain(`<title>${escapeHtml(title)} · Millrace</title>`)
    const links = [...body.matchAll(/(?:href|src)="((?:\/docs|#)[^"]*)"/g)].map(([, link = '']) => link)
    const broken: string[] = []
    for (const link of new Set(links)) {
      const [address = '', anchor] = link.split('#')
      const target = address === '' ? body : (await get(address)).body
      if (target.startsWith('{') || (anchor && !target.includes(`id="${anchor}"`))) broken.push(link)
    }
    expect(broken).toEqual([])
  })
})

test('the index lists every page, and an unknown page is a refusal that says where the list is', async () => {
  const { body } = await get('/docs')
  expect(pages.filter(({ path }) => !body.includes(`href="/docs/${path}"`))).toEqual([])
  const unknown = await get('/docs/nothing')
  expect([unknown.statusCode, unknown.json().code]).toEqual([404, 'RESOURCE_NOT_FOUND'])
  expect(unknown.json().message).toContain('GET /docs lists the pages')
})

test.each(['/docs/..%2fpackage.json', '/docs/../package.json', '/docs/images/../../package.json'])(
  '%s leads to no file outside the pages',
  async url => {
    expect((await get(url)).statusCode).toBe(404)
  },
)

test('a page that has not changed is not sent again', async () => {
  const { headers } = await get('/docs/concepts')
  const again = await get('/docs/concepts', { 'if-none-match': String(headers.etag) })
  expect([again.statusCode, again.body]).toEqual([304, ''])
})

describe('search', () => {
  test('finds the section that a question is about first', async () => {
    const { body } = await get('/docs/search?q=stair+step')
    expect(/href="(\/docs\/[^"]+#[^"]+)"/.exec(body)?.[1]).toBe('/docs/pricing-models#stair_step')
  })

  test.each([['<script>alert(1)</script>'], ['" onfocus="alert(1)']])('shows %s as text', async query => {
    const { body } = await get(`/docs/search?q=${encodeURIComponent(query)}`)
    expect(body).not.toContain(query)
    expect(body).toContain(query.startsWith('<') ? '&lt;script&gt;' : '&quot; onfocus')
  })

  test('says so when nothing matches, and takes no query at all', async () => {
    expect((await get('/docs/search?q=zzzzqqqq')).body).toContain('Nothing was found')
    expect((await get('/docs/search')).statusCode).toBe(200)
    expect((await get('/docs/search?q=a&q=b')).statusCode).toBe(200)
  })
})

describe('links', () => {
  const served = (path: string) => ['concepts', 'decisions/0001-x'].includes(path)
  test.each([
    ['concepts.md#invoice', 'quick-start', '/docs/concepts#invoice'],
    ['../concepts.md', 'decisions/0001-x', '/docs/concepts'],
    ['decisions/0001-x.md', 'concepts', '/docs/decisions/0001-x'],
    ['../README.md', 'concepts', null],
    ['https://example.com/x', 'concepts', 'https://example.com/x'],
    ['#here', 'concepts', '#here'],
  ])('%s on %s leads to %s', (href, from, to) => expect(addressOf(href, from, served)).toBe(to))

  test('tags in a page are text', () => {
    const page = { path: 'x', title: 'X', markdown: '# X\n\n<script>alert(1)</script>\n\na <b>c</b>' }
    expect(renderMarkdown(page, served)).not.toMatch(/<script|<b>/)
  })

  test.each([
    ['FLAT on metered money', 'flat-on-metered-money'],
    ['`TOP_TIERED`', 'top_tiered'],
    ['1. Set up', '1-set-up'],
  ])('the anchor of %s is %s', (heading, anchor) => expect(anchorOf(heading)).toBe(anchor))
})
