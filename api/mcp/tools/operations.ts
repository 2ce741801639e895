// What the API description says of each operation, as far as a tool needs it. The description is made from the routes as they
// are declared, so no operation is written down twice.

export type JsonSchema = Readonly<Record<string, unknown>>

import type { Method } from '../../description/names/operation-id.ts'

export type QueryParameter = { readonly name: string; readonly required: boolean; readonly schema: JsonSchema }

export type Operation = {
  readonly method: Method
  /** With its parameters in braces: `/v1/customers/{id}`. */
  readonly path: string
  /** The tag it is described under. */
  readonly group: string
  readonly summary: string
  /** What the caller must be allowed to do; null where the description does not say. */
  readonly permission: string | null
  readonly pathParameters: readonly QueryParameter[]
  readonly query: readonly QueryParameter[]
  readonly body: { readonly required: boolean; readonly schema: JsonSchema } | null
  /** The shape of a success. */
  readonly answer: JsonSchema
  /** Whether the route can be tried without keeping what it did. */
  readonly dryRun: boolean
  /** The named shapes that its schemas refer to, those of the whole description. */
  readonly shapes: Shapes
}
/** Shapes by their names. */
export type Shapes = Readonly<Record<string, JsonSchema>>

type Parameter = {
  readonly in: string
  readonly name: string
  readonly required?: boolean
  readonly schema?: JsonSchema
  readonly description?: string
}
type Content = { readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>> }
type Described = {
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses?: Readonly<Record<string, Content>>
  readonly 'x-permission'?: string
  readonly 'x-dry-run'?: boolean
}

/** As much of an OpenAPI document as is read here. */
export type ApiDescription = {
  readonly paths?: Readonly<Record<string, unknown>>
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> }
}

const METHODS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const

/** Every operation of an API description, in its order. */
export function operationsOf(description: ApiDescription): Operation[] {
  const shapes = (description.components?.schemas ?? {}) as Shapes
  return Object.entries(description.paths ?? {}).flatMap(([path, item]) =>
    Object.entries(METHODS).flatMap(([key, method]) => {
      const described = (item as Readonly<Record<string, Described | undefined>>)[key]
      return described ? [operationOf(method, path, described, shapes)] : []
    }),
  )
}

function operationOf(method: Method, path: string, described: Described, shapes: Shapes): Operation {
  const parametersIn = (place: string) =>
    (described.parameters ?? []).filter(each => each.in === place).map(parameterOf)
  const body = schemaIn(described.requestBody)
  return {
    method,
    path,
    group: described.tags?.[0] ?? 'other',
    summary: described.summary ?? '',
    permission: described['x-permission'] ?? null,
    pathParameters: parametersIn('path'),
    query: parametersIn('query'),
    body: body && { required: described.requestBody?.required ?? false, schema: body },
    answer: schemaIn(described.responses?.['200'] ?? described.responses?.['201']) ?? {},
    dryRun: described['x-dry-run'] ?? false,
    shapes,
  }
}

const parameterOf = ({ name, required = false, schema = {}, description }: Parameter): QueryParameter => ({
  name,
  required,
  schema: description === undefined ? schema : { ...schema, description },
})

const schemaIn = (content: Content | undefined): JsonSchema | null =>
  content?.content?.['application/json']?.schema ?? null
