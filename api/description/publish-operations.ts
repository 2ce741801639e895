// One operation as it is published: its id and texts, its parameters, body and answers, with every object a reference.
import { Check } from 'typebox/value'
import type { Resource } from '../resource/define-resource.ts'
import { nounOf } from '../resource/nouns.ts'
import { refusalsOf, successHeaders, type Traits } from './answers.ts'
import type { Components } from './components.ts'
import { type JsonObject, objectIn, objectsIn, textIn } from './json.ts'
import { MEDIA_TYPES, UPLOADS } from './media-types.ts'
import { aliasOf } from './names/aliases.ts'
import { answerNameOf, bodyNameOf } from './names/names.ts'
import { type Method, operationIdOf } from './names/operation-id.ts'
import { OPERATION_TEXTS } from './operations/index.ts'
import { parameterRef, publishedParameters } from './parameters.ts'
import { standardText } from './texts/standard-texts.ts'

export type Context = {
  readonly components: Components
  readonly resourceAt: ReadonlyMap<string, Resource>
}

/** The operation as it is published. */
export function publishedOperation(context: Context, method: Method, path: string, raw: JsonObject): JsonObject {
  const operationId = operationIdOf({ method, path })
  const traits = traitsOf(method, path, raw)
  const alias = aliasOf(method, path)
  const resource = context.resourceAt.get(path.split('/')[2] ?? '')
  // Answers first: a shape that is in both is named after what is answered.
  const successes = successesOf(context, { operationId, method, resource, traits }, raw)
  const body = bodyOf(context, { operationId, resource, method }, raw)
  const { 'x-permission': permission, 'x-dry-run': dryRun } = raw
  return {
    operationId,
    summary: raw.summary,
    description: textOf({ operationId, resource, alias, raw, takesActions: takesActions(raw) }),
    tags: raw.tags,
    ...(alias === null ? {} : { deprecated: true, 'x-alias-of': alias }),
    ...(permission === undefined ? {} : { 'x-permission': permission }),
    ...(dryRun === undefined ? {} : { 'x-dry-run': dryRun }),
    parameters: [...publishedParameters(objectsIn(raw, 'parameters')), ...headersOf(traits)],
    ...(body === null ? {} : { requestBody: body }),
    responses: {
      ...successes,
      ...refusalsOf({ ...traits, hasBody: body !== null }),
    },
  }
}

type Named = { readonly operationId: string; readonly resource: Resource | undefined }

/** What sends events: the reference of an event is its key (contract: Idempotency). */
const INGESTION = /^\/v1\/(events\/ingest(-list|-batch)?|ingest\/meter-datas?)$/

function traitsOf(method: Method, path: string, raw: JsonObject): Traits {
  const changes = textIn(raw, 'x-permission')?.endsWith('.VIEW') === false
  return {
    changes,
    hasBody: raw['requestBody'] !== undefined,
    takesKey: method === 'POST' && !INGESTION.test(path),
    dryRun: raw['x-dry-run'] === true,
  }
}

const headersOf = ({ takesKey, dryRun }: Traits): JsonObject[] =>
  [
    ...(takesKey ? ['IdempotencyKey'] : []),
    ...(dryRun ? ['DryRun'] : []),
    'PlatformId',
    'Environment',
    'OriginalUser',
  ].map(parameterRef)

const takesActions = (raw: JsonObject): boolean =>
  objectsIn(raw, 'parameters').some(({ name }) => String(name).startsWith('field_actions'))

type Texts = Named & { readonly alias: string | null; readonly raw: JsonObject; readonly takesActions: boolean }

function textOf(of: Texts): string {
  const { operationId, resource, alias, raw } = of
  const own =
    OPERATION_TEXTS[operationId] ??
    (alias === null ? undefined : `Another address of \`${alias}\`.`) ??
    (resource && standardText({ ...of, resource, noun: nounOf(resource.objectType) }, operationId)) ??
    ''
  const permission = textIn(raw, 'x-permission')
  return permission === null ? own : `${own}\n\nNeeds the permission \`${permission}\`.`
}

type WithBody = Named & { readonly method: Method }

function bodyOf({ components }: Context, named: WithBody, raw: JsonObject): JsonObject | null {
  const upload = UPLOADS[named.operationId]
  if (upload) return upload
  const body = objectIn(raw, 'requestBody')
  const schema = objectIn(objectIn(objectIn(body, 'content'), 'application/json'), 'schema')
  if (Object.keys(schema).length === 0) return null
  const root = bodyName(named)
  // A body of a form that generators cannot choose from is described by its main form; the others stay accepted.
  const referred = components.refer(schema, { root, base: named.resource?.shapeName ?? root, path: [] })
  const { description: _description, ...content } = referred
  // A POST that needs no member of its body is answered without one (`bodyChecks`).
  const required = named.method !== 'POST' || !Check(schema, {})
  return { required, content: { 'application/json': { schema: content } } }
}

const SHARED_BODIES: Readonly<Record<string, string>> = { create: 'Create', upsert: 'Create', update: 'Update' }

function bodyName({ operationId, resource }: Named): string {
  const verb = operationId.split('_').at(-1) ?? ''
  const suffix = SHARED_BODIES[verb]
  if (resource && suffix && operationId === `${resource.path.replaceAll('-', '_')}_${verb}`) {
    return `${resource.shapeName}${suffix}`
  }
  return bodyNameOf(operationId)
}

type OfOperation = Named & { readonly method: Method; readonly traits: Traits }

function successesOf(context: Context, of: OfOperation, raw: JsonObject): JsonObject {
  const responses = objectIn(raw, 'responses')
  const statuses = Object.keys(responses).filter(status => of.method === 'PUT' || status === firstStatus(responses))
  return Object.fromEntries(
    statuses.map(status => [status, successOf(context, of, status, objectIn(responses, status))]),
  )
}

/** A POST that creates answers 201, its repeats included; the other status is for the serializer. */
const firstStatus = (responses: JsonObject): string => ('201' in responses ? '201' : '200')

function successOf({ components }: Context, of: OfOperation, status: string, response: JsonObject): JsonObject {
  const about = {
    description: status === '201' ? 'Created.' : 'Success.',
    headers: successHeaders(of.traits),
  }
  const other = MEDIA_TYPES[of.operationId]
  if (other) return { ...about, content: other }
  const schema = objectIn(objectIn(objectIn(response, 'content'), 'application/json'), 'schema')
  const { description: _description, ...referred } = components.refer(schema, {
    root: answerName(components, of, schema),
    base: baseName(of, schema),
    path: [],
  })
  return { ...about, content: { 'application/json': { schema: referred } } }
}

/** A list is named by what it lists. */
function answerName(components: Components, { operationId, resource }: OfOperation, schema: JsonObject): string {
  const data = objectIn(objectIn(schema, 'properties'), 'data')
  if (data['type'] !== 'array')
    return resource && schema['title'] === resource.shapeName ? resource.shapeName : answerNameOf(operationId)
  const named = textIn(objectIn(data, 'items'), 'title') ?? answerNameOf(operationId)
  const item = components.refer(objectIn(data, 'items'), { root: named, base: named, path: [] })
  return `${components.nameOf(item) ?? named}${'links' in objectIn(schema, 'properties') ? 'Page' : 'List'}`
}

/** What the parts of an answer are named after: the thing it is. */
const baseName = ({ operationId, resource }: OfOperation, schema: JsonObject): string =>
  textIn(schema, 'title') ?? resource?.shapeName ?? answerNameOf(operationId)
