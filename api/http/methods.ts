// What can be done at a path: OPTIONS says it, and a method that cannot be is answered 405.
import type { FastifyInstance } from 'fastify'

export type Methods = {
  /** The methods of the routes that a path fits, in a fixed order; none for a path that is nowhere. */
  readonly at: (path: string) => readonly string[]
}

const ORDER = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Records every route that is declared from now on. */
export function recordMethods(app: FastifyInstance): Methods {
  const methodsByUrl = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByUrl.get(url) ?? new Set()
    for (const each of [method].flat()) methods.add(each)
    methodsByUrl.set(url, methods)
  })
  return {
    at: path => {
      const segments = path.replace(/(.)\/$/, '$1').split('/')
      const found = [...methodsByUrl].flatMap(([url, methods]) => (fits(url.split('/'), segments) ? [...methods] : []))
      if (found.length === 0) return []
      return ORDER.filter(method => found.includes(method) || method === 'OPTIONS')
    },
  }
}

const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]))
