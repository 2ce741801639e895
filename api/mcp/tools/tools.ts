// The tools: one for each operation, made from its description.
import type { Tool, ToolAnnotations } from '@modelcontextprotocol/sdk/types.js'
import { operationIdOf } from '../../description/names/operation-id.ts'
import { scopeOf } from '../../http/permissions.ts'
import { exclusionOf } from '../exclusions.ts'
import type { ApiDescription, JsonSchema, Operation } from './operations.ts'
import { operationsOf } from './operations.ts'
import { selfContained, unfolded } from './self-contained.ts'

export type ApiTool = {
  readonly name: string
  readonly operation: Operation
  /** Whether it changes nothing, by the permission its route declares. */
  readonly isRead: boolean
  /** What a query parameter is called as an argument: `statuses` for `statuses[]`, since clients refuse brackets in names. */
  readonly queryNames: Readonly<Record<string, string>>
}

/** Every tool by its name, in the order of the description. */
export type Tools = ReadonlyMap<string, ApiTool>

/** Arguments that every tool takes besides those of its operation. */
const OWN_ARGUMENTS = ['body', 'platform_id', 'environment', 'idempotency_key', 'dry_run']
/** Clients put the name of their server before the name of a tool, and take 64 characters. */
const NAME_CHARACTERS_MAX = 48

/** Makes the tools. Throws when two would have one name, or an argument two meanings. */
export function toolsOf(description: ApiDescription): Tools {
  const tools = new Map<string, ApiTool>()
  for (const operation of operationsOf(description)) {
    if (exclusionOf(operation) !== null) continue
    const tool = toolOf(operation)
    const place = `${operation.method} ${operation.path}`
    if (tools.has(tool.name)) throw new Error(`${place} would be a second tool named ${tool.name}`)
    if (tool.name.length > NAME_CHARACTERS_MAX) throw new Error(`the tool name of ${place} is too long: ${tool.name}`)
    tools.set(tool.name, tool)
  }
  return tools
}

function toolOf(operation: Operation): ApiTool {
  const name = operationIdOf(operation)
  const queryNames = Object.fromEntries(operation.query.map(each => [each.name.replace(/\[\]$/, ''), each.name]))
  const names = [...operation.pathParameters.map(each => each.name), ...Object.keys(queryNames), ...OWN_ARGUMENTS]
  const twice = names.find((each, index) => names.indexOf(each) !== index)
  if (twice !== undefined) throw new Error(`the argument ${twice} of ${name} would mean two things`)
  return { name, operation, isRead: isRead(operation), queryNames }
}

/** What declares no permission may change something. */
const isRead = ({ permission }: Operation): boolean =>
  permission !== null && scopeOf(permission as Parameters<typeof scopeOf>[0]) === 'service:read'

/** The scope a token needs to call it. */
export const scopeNeeded = (tool: ApiTool): string => (tool.isRead ? 'service:read' : 'service:write')

/** The one line a client shows. */
export const descriptionOf = ({ operation, ...tool }: ApiTool): string =>
  `${operation.summary} (${operation.method} ${operation.path}; needs ${tool.isRead ? 'service:read' : 'service:write'}${
    operation.permission === null ? '' : ` and ${operation.permission}`
  }.)`

/** What a client may rely on before it calls. A creation adds and takes nothing away; every other change may. */
export function annotationsOf({ operation, isRead: readOnlyHint }: ApiTool): ToolAnnotations {
  const { method, path } = operation
  if (readOnlyHint) return { readOnlyHint, destructiveHint: false, idempotentHint: true, openWorldHint: false }
  const adds = method === 'POST' && !path.includes('{')
  return {
    readOnlyHint,
    destructiveHint: !adds || operation.permission?.endsWith('.CREATE') === false,
    idempotentHint: method !== 'POST',
    openWorldHint: false,
  }
}

/** The shape of a tool's arguments: the parameters of path and query by name, the body under `body`. */
export function inputSchemaOf(tool: ApiTool): Tool['inputSchema'] & { properties: Record<string, object> } {
  const { operation } = tool
  const query = new Map(operation.query.map(each => [each.name, each]))
  const properties: Record<string, object> = {}
  for (const { name, schema } of operation.pathParameters) properties[name] = plain(schema)
  for (const [name, parameter] of Object.entries(tool.queryNames)) {
    properties[name] = plain(query.get(parameter)?.schema ?? {})
  }
  if (operation.body) properties.body = plain(unfolded(operation.body.schema, operation.shapes))
  const required = [
    ...operation.pathParameters.map(({ name }) => name),
    ...Object.entries(tool.queryNames).flatMap(([name, parameter]) => (query.get(parameter)?.required ? [name] : [])),
    ...(operation.body?.required ? ['body'] : []),
  ]
  const { schemas, defs } = selfContained(properties, operation.shapes)
  return {
    type: 'object',
    properties: { ...schemas, ...ownArgumentsOf(tool) },
    ...(Object.keys(defs).length === 0 ? {} : { $defs: plain(defs) }),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

function ownArgumentsOf(tool: ApiTool): Record<string, JsonSchema> {
  const { operation, isRead: reads } = tool
  return {
    platform_id: { type: 'string', description: 'Which platform, when the token reaches several.' },
    environment: { enum: ['TEST', 'LIVE'], description: 'Which environment, when the token reaches several.' },
    ...(takesIdempotencyKey(tool)
      ? { idempotency_key: { type: 'string', description: 'Any text; the same call sent again with it acts once.' } }
      : {}),
    ...(operation.dryRun && !reads
      ? { dry_run: { type: 'boolean', description: 'Answer as if it were done, and keep nothing.' } }
      : {}),
  }
}

/** Every changing POST does, but those of events, whose key is the event's reference (contract: Idempotency). */
export const takesIdempotencyKey = ({ operation, isRead: reads }: ApiTool): boolean =>
  operation.method === 'POST' && !reads && !operation.path.startsWith('/v1/events/')

const KNOWN_FORMATS: ReadonlySet<unknown> = new Set(['date-time', 'binary'])

/** A schema without the names of our own formats, which the validators of clients do not know; their descriptions say the same. */
export function plain<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(plain) as T
  if (typeof schema !== 'object' || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== 'format' || typeof value !== 'string' || KNOWN_FORMATS.has(value))
      .map(([key, value]) => [key, plain(value)]),
  ) as T
}

/** The shape of what a tool answers, by itself. */
export function answerSchemaOf({ operation }: ApiTool): JsonSchema {
  const { schemas, defs } = selfContained(unfolded(operation.answer, operation.shapes), operation.shapes)
  return plain({ ...schemas, ...(Object.keys(defs).length === 0 ? {} : { $defs: defs }) })
}
