// What the operations that every resource shares do, by the verb their id ends with.
import type { Resource } from '../../resource/define-resource.ts'

type Words = {
  readonly resource: Resource
  readonly noun: string
  /** Whether it takes `field_actions`. */
  readonly takesActions: boolean
}

const byIdOrReference = ({ resource }: Words): string => {
  if (resource.byCode) return 'It is found by its id or its `code`, whose case does not count.'
  return resource.byReference ? 'It is found by its id or its `reference`.' : 'It is found by its id.'
}
const expandable = ({ resource }: Words): string => {
  const names = Object.keys(resource.expand ?? {})
  if (names.length === 0) return ''
  return ` \`expand[]\` includes what it refers to: ${[...names, 'ALL'].map(name => `\`${name}\``).join(', ')}.`
}
const byCustomField = ({ customFields }: Resource): string =>
  customFields
    ? ' `identifier_field=custom_field` goes by the value of a custom field with `unique_value` instead; `custom_field_reference` names it.'
    : ''
const moved =
  (to: string) =>
  ({ resource }: Words): string =>
    `It must be ${inWords(resource.statuses?.[to] ?? [])}. If its status is ${to} already, nothing changes.`
const inWords = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

const TEXTS: Readonly<Record<string, (words: Words) => string>> = {
  create: ({ resource, noun }) =>
    `Fields that are left out get their defaults.${resource.statuses ? ` The ${noun} is DRAFT unless \`status\` is sent as ACTIVE.` : ''}` +
    `${resource.byReference ? ' A `reference` that is in use already is refused with 409.' : ''}`,
  upsert: ({ resource, noun }) =>
    `Created with 201 when no other ${noun} has this \`reference\`; otherwise that one is updated with 200, as by a PATCH: what you leave ` +
    `out stays. Send what a create needs in both cases. The call can be repeated safely.${byCustomField(resource)}`,
  list: words =>
    `Newest first, unless \`order_by\` and \`order_direction\` say otherwise. Filters that are given must all match.${expandable(words)}`,
  search: ({ resource }) =>
    'Every entry of `search_fields` and `filter_fields` must match. `search_fields` match a text or, with wildcards, a part of it; ' +
    `\`filter_fields\` match one of several values${resource.customFields ? ', also of custom fields' : ''}.`,
  get: words => `${byIdOrReference(words)}${expandable(words)}`,
  update: words =>
    `${byIdOrReference(words)} Objects are merged member by member, and lists are replaced${words.takesActions ? ' unless `field_actions` say otherwise' : ''}. A request that changes nothing succeeds.`,
  delete: ({ resource }) =>
    resource.statuses
      ? 'Only while it is DRAFT: archive it instead once it has been active. The answer shows what was deleted.'
      : 'Refused with 409 while others refer to it. The answer shows what was deleted.',
  activate: moved('ACTIVE'),
  deactivate: moved('INACTIVE'),
  deprecate: moved('DEPRECATED'),
  archive: moved('ARCHIVED'),
}

/** The description of one of the shared operations; null for any other. */
export function standardText(words: Words, operationId: string): string | null {
  const { resource } = words
  const verb = operationId.slice(resource.path.replaceAll('-', '_').length + 1)
  return TEXTS[verb]?.(words) ?? null
}
