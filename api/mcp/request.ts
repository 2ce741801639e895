// From the arguments of a tool to the request that the api would have got from any other client.
import { AppError } from '../../shared/errors.ts'
import type { Method } from '../description/names/operation-id.ts'
import { type ApiTool, takesIdempotencyKey } from './tools/tools.ts'

export type Arguments = Readonly<Record<string, unknown>>
export type ToolRequest = {
  readonly method: Method
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly payload?: string
}

/**
 * The request of a call. What the values may be is for the route to judge; here an argument is only put in its place. Throws
 * INVALID_FIELD or MISSING_FIELD for what has none.
 */
export function requestOf(tool: ApiTool, given: Arguments): ToolRequest {
  refuseUnknown(tool, given)
  const { operation } = tool
  const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_match, name: string) => pathSegment(name, given[name]))
  const query = queryOf(tool, given)
  const headers = headersOf(given)
  const { body } = given
  if (body === undefined && operation.body?.required)
    throw new AppError('MISSING_FIELD', 'body is required.', { field: 'body' })
  return {
    method: operation.method,
    url: query === '' ? path : `${path}?${query}`,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  }
}

function refuseUnknown(tool: ApiTool, given: Arguments): void {
  const { operation, queryNames } = tool
  const known = new Set([
    ...operation.pathParameters.map(({ name }) => name),
    ...Object.keys(queryNames),
    'platform_id',
    'environment',
    ...(operation.body ? ['body'] : []),
    ...(takesIdempotencyKey(tool) ? ['idempotency_key'] : []),
    ...(operation.dryRun && !tool.isRead ? ['dry_run'] : []),
  ])
  const unknown = Object.keys(given).find(name => !known.has(name))
  if (unknown === undefined) return
  const message = `${unknown} is not an argument of ${tool.name}; it takes ${[...known].join(', ')}.`
  throw new AppError('INVALID_FIELD', message, { field: unknown })
}

/** A dot segment would make another address of the path. */
function pathSegment(name: string, value: unknown): string {
  if (value === undefined || value === '') throw new AppError('MISSING_FIELD', `${name} is required.`, { field: name })
  if (typeof value !== 'string' || value === '.' || value === '..') {
    throw new AppError('INVALID_FIELD', `${name} must be an id or a reference.`, { field: name })
  }
  return encodeURIComponent(wellFormed(name, value))
}

function queryOf(tool: ApiTool, given: Arguments): string {
  const query = new URLSearchParams()
  for (const [name, parameter] of Object.entries(tool.queryNames)) {
    const value = given[name]
    if (value === undefined || value === null) continue
    for (const [key, one] of textsOf(tool, { name, parameter, value })) query.append(key, scalarText(name, one))
  }
  return query.toString()
}

type Argument = { readonly name: string; readonly parameter: string; readonly value: unknown }

/** The parameters an argument becomes: a list is repeated, and an object is one for each member, `name[member]`. */
function textsOf({ operation }: ApiTool, { name, parameter, value }: Argument): [string, unknown][] {
  if (Array.isArray(value)) return value.map(one => [parameter, one])
  const isObject = operation.query.find(each => each.name === parameter)?.schema['type'] === 'object'
  if (!isObject) return [[parameter, value]]
  if (typeof value !== 'object') {
    throw new AppError('INVALID_FIELD', `${name} must be an object.`, { field: name })
  }
  return Object.entries(value ?? {}).map(([member, one]) => [`${parameter}[${member}]`, one])
}

function headersOf(given: Arguments): Record<string, string> {
  const headers: Record<string, string> = {}
  const pairs = [
    ['platform_id', 'x-platform-id'],
    ['environment', 'x-environment'],
    ['idempotency_key', 'idempotency-key'],
  ] as const
  for (const [name, header] of pairs) {
    const value = given[name]
    if (value === undefined || value === null) continue
    if (typeof value !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(value)) {
      throw new AppError('INVALID_FIELD', `${name} must be 1 to 255 plain characters.`, { field: name })
    }
    headers[header] = value
  }
  const dryRun = given['dry_run']
  if (dryRun !== undefined && typeof dryRun !== 'boolean') {
    throw new AppError('INVALID_FIELD', 'dry_run must be true or false.', { field: 'dry_run' })
  }
  return dryRun ? { ...headers, 'x-dry-run': 'true' } : headers
}

/** Models send numbers and booleans where a query has their text. */
function scalarText(name: string, value: unknown): string {
  if (typeof value === 'string') return wellFormed(name, value)
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new AppError('INVALID_FIELD', `${name} must be a text, or a list of texts.`, { field: name })
}

/** A lone half of a character cannot stand in an address. */
function wellFormed(name: string, value: string): string {
  if (!/\p{Surrogate}/u.test(value)) return value
  throw new AppError('INVALID_FIELD', `${name} is not well-formed text.`, { field: name })
}
