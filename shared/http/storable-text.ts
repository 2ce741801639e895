// What no text of a request may hold, wherever it stands: NUL, which PostgreSQL cannot store, and half of a surrogate pair, which is no
// character. Checked before the shapes are, over every body, query and path, and answered with the field's name.
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is looked for.
const NOT_STORABLE = /[\u0000\p{Cs}]/u

type Found = { readonly value: unknown; readonly path: readonly string[] }

/** Throws INVALID_FIELD with the dotted path of the first text, or name of a member, that cannot be stored. */
export function refuseUnstorableText(value: unknown): void {
  // It does not call itself: what nests deep would run it out of stack.
  const waiting: Found[] = [{ value, path: [] }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next.value === 'string' && NOT_STORABLE.test(next.value)) throw unstorable(next.path)
    const members = membersOf(next)
    for (let last = members.pop(); last !== undefined; last = members.pop()) waiting.push(last)
  }
}

function membersOf({ value, path }: Found): Found[] {
  if (Array.isArray(value)) return value.map((each, index) => ({ value: each, path: [...path, String(index)] }))
  if (!isObject(value)) return []
  return Object.entries(value).map(([name, member]) => {
    if (NOT_STORABLE.test(name)) throw unstorable(path)
    return { value: member, path: [...path, name] }
  })
}

/** Throws BAD_REQUEST when the query is not percent-encoded UTF-8: left as it is, `%ff` would be looked for as three characters. */
export function refuseUnreadableQuery(url: string): void {
  const start = url.indexOf('?')
  if (start === -1 || !url.includes('%', start)) return
  try {
    decodeURIComponent(url.slice(start))
  } catch {
    throw new AppError('BAD_REQUEST', 'The query is not percent-encoded UTF-8. Write % as %25.')
  }
}

/** Checks all that a request carries beside its headers; a body that is a stream or bytes is its route's own matter. */
export function refuseUnstorableRequest({ url, params, query, body }: FastifyRequest): void {
  refuseUnreadableQuery(url)
  for (const part of [params, query, body]) refuseUnstorableText(part)
}

/** Parsed members: not a stream, and not bytes. */
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Buffer.isBuffer(value) && !(value instanceof Readable)

function unstorable(path: readonly string[]): AppError {
  const field = path.join('.')
  const message = 'NUL characters and lone surrogates cannot be stored; remove them'
  if (field === '') return new AppError('INVALID_REQUEST', `${message}.`)
  return new AppError('INVALID_FIELD', `${message} from ${field}.`, { field })
}
