// The documentation at /docs, served by the installation itself: static HTML made from docs/*.md, and a search.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../shared/errors.ts'
import { framed, indexBody, STYLE, searchBody } from './layout.ts'
import { type Page, readImages, readPages } from './read-pages.ts'
import { renderMarkdown } from './render-page.ts'
import { searchSections, sectionsOf } from './search-pages.ts'

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
const QUERY_CHARACTERS_MAX = 200
const SETTINGS = { config: { permission: 'public' }, schema: { hide: true } } as const

type Content = {
  readonly type: 'text/html' | 'text/css' | 'image/svg+xml'
  readonly text: string
  readonly etag: string
}

const contentOf = (type: Content['type'], text: string): Content => ({
  type,
  text,
  etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`,
})

/** What the installation serves below /docs, by path; made at the first request, which costs some tens of milliseconds. */
function publish(pages: readonly Page[]): ReadonlyMap<string, Content> {
  const images = readImages()
  const served = new Set([...pages.map(({ path }) => path), ...images.keys()])
  const isServed = (path: string) => served.has(path)
  return new Map([
    ['', contentOf('text/html', framed(pages, { title: 'Documentation', body: indexBody(pages) }))],
    ['style.css', contentOf('text/css', STYLE)],
    ...[...images].map(([path, svg]) => [path, contentOf('image/svg+xml', svg)] as const),
    ...pages.map(page => {
      const body = renderMarkdown(page, isServed)
      return [page.path, contentOf('text/html', framed(pages, { title: page.title, body, at: page.path }))] as const
    }),
  ])
}

/** Serves the pages, their pictures and the search. */
export function docsRoutes(app: FastifyInstance): void {
  let known: { readonly pages: readonly Page[]; readonly contents: ReadonlyMap<string, Content> } | null = null
  const load = () => {
    if (known) return known
    const pages = readPages()
    known = { pages, contents: publish(pages) }
    return known
  }
  const answer = (request: FastifyRequest, reply: FastifyReply, path: string): FastifyReply => {
    const content = load().contents.get(path)
    if (!content)
      throw new AppError('RESOURCE_NOT_FOUND', `There is no page ${request.url}. GET /docs lists the pages.`)
    reply.header('etag', content.etag).header('cache-control', 'no-cache')
    if (request.headers['if-none-match'] === content.etag) return reply.status(304).send()
    return sendText(reply, content)
  }
  app.get('/docs', SETTINGS, (request, reply) => answer(request, reply, ''))
  app.get<{ Params: { '*': string } }>('/docs/*', SETTINGS, (request, reply) =>
    answer(request, reply, request.params['*'].replace(/\/$/, '')),
  )
  app.get<{ Querystring: { q?: string | string[] } }>('/docs/search', SETTINGS, (request, reply) => {
    const query = [request.query.q ?? ''].flat().join(' ').slice(0, QUERY_CHARACTERS_MAX)
    const { pages } = load()
    const body = searchBody(query, searchSections(sectionsOf(pages), query))
    return sendText(reply, { type: 'text/html', text: framed(pages, { title: `Search: ${query}`, body, query }) })
  })
}

const sendText = (reply: FastifyReply, { type, text }: Pick<Content, 'type' | 'text'>): FastifyReply =>
  reply
    .type(`${type}; charset=utf-8`)
    .header('content-security-policy', POLICY)
    .header('x-content-type-options', 'nosniff')
    .header('referrer-policy', 'no-referrer')
    .send(text)
