// The icon that browsers show beside a page's title.
import type { FastifyInstance } from 'fastify'

/** Goes into the head of every page. A policy of the page must allow `img-src 'self'`. */
export const ICON_LINK = '<link rel="icon" href="/favicon.ico">'

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6" fill="none" stroke="#0b57b0" stroke-width="2"/><path d="M8 2v12M2 8h12" stroke="#0b57b0" stroke-width="2"/></svg>\n'

/** Serves the icon where browsers look for it, to everyone. */
export function faviconRoute(app: FastifyInstance, options: object = {}): void {
  app.get('/favicon.ico', options, (_request, reply) =>
    reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(ICON),
  )
}
