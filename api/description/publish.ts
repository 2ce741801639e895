// The API description, from what the routes declare to what is published. The routes keep their own shapes: nothing here changes
// what is accepted or answered.
import type { EventType } from '../../shared/contracts/event-types.ts'
import type { Resource } from '../resource/define-resource.ts'
import { ANSWER_HEADERS, ERROR_RESPONSES, errorSchema } from './answers.ts'
import { eventTypeSchema, nameableTypes, withClosedLists } from './closed-lists.ts'
import { createComponents } from './components.ts'
import { withExamples, withInlineExamples } from './examples.ts'
import { expandedReferences } from './expanded-references.ts'
import { type Json, type JsonObject, objectIn, textsIn } from './json.ts'
import type { Method } from './names/operation-id.ts'
import { HEADER_PARAMETERS } from './parameters.ts'
import { publishedOperation } from './publish-operations.ts'
import { TAGS, tagOrder } from './tags.ts'
import { describeFields } from './texts/describe-fields.ts'
import { describeParameters } from './texts/describe-parameters.ts'
import { truthfulMembers } from './truthful-members.ts'
import { webhookSection } from './webhooks.ts'

const METHODS: Readonly<Record<string, Method>> = {
  get: 'GET',
  post: 'POST',
  put: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
}

export type PublishDeps = {
  readonly resources: readonly Resource[]
  readonly eventTypes: readonly EventType[]
  readonly baseUrl: string
}

/** The published description. Throws when two shapes would have one name. */
export function publishDescription(raw: JsonObject, { resources, eventTypes, baseUrl }: PublishDeps): JsonObject {
  const components = createComponents()
  const context = { components, resourceAt: new Map(resources.map(resource => [resource.path, resource])) }
  const paths = inOrder(objectIn(raw, 'paths')).map(([path, item]): [string, JsonObject] => [
    path,
    Object.fromEntries(
      Object.entries(item).flatMap(([key, operation]): [string, Json][] => {
        const method = METHODS[key]
        return method
          ? [[key, publishedOperation(context, method, path, objectIn(item, key))]]
          : [[key, operation ?? null]]
      }),
    ),
  ])
  const truthful = truthfulMembers(expandedReferences(components.all(), resources), resources)
  const shapes = withClosedLists(truthful, { resources, eventTypes })
  const { paths: _paths, components: given, ...about } = raw
  const { webhooks, schemas } = webhookSection(eventTypes, resources)
  return {
    ...about,
    servers: [{ url: baseUrl, description: 'This installation.' }],
    tags: TAGS.map(({ name, title, description }) => ({ name, description, 'x-displayName': title })),
    paths: withInlineExamples(describeParameters(Object.fromEntries(paths))),
    webhooks,
    components: {
      ...objectIn({ given }, 'given'),
      schemas: sorted({
        ...Object.fromEntries(withExamples(describeFields(shapes))),
        ...schemas,
        Error: errorSchema(nameableTypes({ resources, eventTypes })),
        EventType: eventTypeSchema(eventTypes),
      }),
      parameters: HEADER_PARAMETERS,
      headers: ANSWER_HEADERS,
      responses: ERROR_RESPONSES,
    },
  }
}

const sorted = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** By the order of their tags; within one, as declared. */
const inOrder = (paths: JsonObject): [string, JsonObject][] =>
  Object.keys(paths)
    .map((path): [string, JsonObject] => [path, objectIn(paths, path)])
    .toSorted(([, a], [, b]) => tagOf(a) - tagOf(b))

const tagOf = (item: JsonObject): number => {
  const [first] = Object.keys(item).map(key => textsIn(objectIn(item, key), 'tags')[0] ?? '')
  return tagOrder(first ?? '')
}
