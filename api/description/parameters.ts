// Parameters as clients should send them. A list filter is a list for generators; the api takes a single value as well. Page and
// limit are numbers; on the wire both are text.
import { LIMIT_DEFAULT, LIMIT_MAX } from '../http/pagination.ts'
import { type JsonObject, objectIn, objectsIn, textIn } from './json.ts'

/** Headers that operations refer to. */
export const HEADER_PARAMETERS: Readonly<Record<string, JsonObject>> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A text of your choice for this one request. The same request sent again with it within 48 hours is answered as the first ' +
      'was, with `Idempotent-Replayed: true`, and acts once. With another body it is refused with 409.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
    example: '7d1f0b52-0a2d-4f43-8f0d-6c1b6c0f1f5e',
  },
  DryRun: {
    name: 'X-DRY-RUN',
    in: 'header',
    required: false,
    description: '`true` checks the request, answers it as if it had been carried out, and keeps nothing.',
    schema: { type: 'string', enum: ['true'] },
  },
  PlatformId: {
    name: 'X-PLATFORM-ID',
    in: 'header',
    required: false,
    description:
      'Which platform the call is for. Needed with a bearer token that reaches several; with an API key it must be the key’s own.',
    schema: { type: 'string', maxLength: 64 },
  },
  Environment: {
    name: 'X-ENVIRONMENT',
    in: 'header',
    required: false,
    description:
      'Which environment the call is for. Needed with a bearer token that reaches both; an API key belongs to one.',
    schema: { type: 'string', enum: ['TEST', 'LIVE'] },
  },
  OriginalUser: {
    name: 'X-ORIGINAL-USER',
    in: 'header',
    required: false,
    description:
      'With a key of type PROXY: the id of the user it acts for. The call may do what both the key and the user may.',
    schema: { type: 'string', maxLength: 64 },
  },
}

export const parameterRef = (name: string): JsonObject => ({ $ref: `#/components/parameters/${name}` })

const MEMBER = /^([a-z_]+)\[([a-z_]+)\]$/

/** The parameters of an operation as they are published. Those of one name with members, `a[b]` and `a[c]`, are one object. */
export function publishedParameters(parameters: readonly JsonObject[]): JsonObject[] {
  const members = new Map<string, JsonObject[]>()
  for (const parameter of parameters) {
    const name = MEMBER.exec(textIn(parameter, 'name') ?? '')?.[1]
    if (name !== undefined) members.set(name, [...(members.get(name) ?? []), parameter])
  }
  const plain = parameters.filter(parameter => !MEMBER.test(textIn(parameter, 'name') ?? ''))
  return [...plain.map(publishedParameter), ...[...members].map(([name, of]) => objectParameter(name, of))]
}

function objectParameter(name: string, members: readonly JsonObject[]): JsonObject {
  const names = members.flatMap(member => MEMBER.exec(textIn(member, 'name') ?? '')?.[2] ?? [])
  const { description: _description, ...value } = typed(objectIn(members[0] ?? {}, 'schema'))
  return {
    name,
    in: 'query',
    required: false,
    style: 'deepObject',
    explode: true,
    schema: { type: 'object', propertyNames: { enum: names }, additionalProperties: value },
  }
}

/** A parameter of path or query as it is published, without its description. */
function publishedParameter(parameter: JsonObject): JsonObject {
  const { description, schema: _schema, ...about } = parameter
  const schema = schemaOf(parameter)
  const said = description ?? schema['description']
  const { description: _inner, ...shape } = schema
  return {
    ...about,
    ...(said === undefined ? {} : { description: said }),
    schema: shape,
    ...(shape['type'] === 'array' ? { style: 'form', explode: true } : {}),
  }
}

function schemaOf(parameter: JsonObject): JsonObject {
  const schema = objectIn(parameter, 'schema')
  const name = textIn(parameter, 'name') ?? ''
  if (parameter['in'] === 'query' && name === 'page')
    return { type: 'integer', minimum: 1, maximum: 1_000_000, default: 1 }
  if (parameter['in'] === 'query' && name === 'limit') {
    return { type: 'integer', minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT }
  }
  // Capitals are accepted too; generators that name constants after the values would make the same name twice.
  if (parameter['in'] === 'query' && name === 'order_direction') {
    return { type: 'string', enum: ['asc', 'desc'] }
  }
  const list = objectsIn(schema, 'anyOf').find(({ type }) => type === 'array')
  return withoutNull(list ? { ...list, items: typed(objectIn(list, 'items')) } : schema)
}

const withoutNull = (schema: JsonObject): JsonObject => (isFlag(schema) ? flag(schema) : typed(schema))
const isFlag = ({ enum: values }: JsonObject): boolean => Array.isArray(values) && values.join() === 'true,false'
const flag = ({ enum: _enum, type: _type, ...rest }: JsonObject): JsonObject => ({ ...rest, type: 'boolean' })
const typed = (schema: JsonObject): JsonObject =>
  Array.isArray(schema['enum']) && schema['type'] === undefined ? { type: 'string', ...schema } : schema
