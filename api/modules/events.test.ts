// Every declared event is emitted, and by which files (event-types.txt). That nothing else is emitted, the types and the outbox see to.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { EventType } from '../../shared/contracts/event-types.ts'
import { EVENT_TYPES, RESOURCES } from './modules.ts'

/** Which operations of a resource emit which of its changes, and which commands do when a module calls them itself. */
const RECIPE = {
  CREATED: { operations: ['create', 'upsert'], commands: ['createResource', 'upsertResource', 'saveNew'] },
  UPDATED: {
    operations: ['update', 'upsert', 'activate', 'deactivate', 'deprecate', 'archive'],
    commands: ['updateResource', 'saveChange', 'changeStatus'],
  },
  DELETED: { operations: ['delete'], commands: ['deleteResource', 'saveRemoval'] },
} as const

const sources = ['api', 'identity', 'shared'].flatMap(part =>
  readdirSync(part, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('testing/'))
    .map(name => ({ file: `${part}/${name}`, text: readFileSync(`${part}/${name}`, 'utf8') })),
)

/** Names of resources, by object type. */
const constants = new Map(
  sources.flatMap(({ text }) =>
    [...text.matchAll(/export const (\w+Resource)\b[^=]*=[^;]*?objectType: '([A-Z_]+)'/g)].map(
      ([, name, objectType]) => [objectType, name] as const,
    ),
  ),
)

/** The description of the API names event types and emits none. */
const DESCRIBING = 'api/description/'

/** Files that name the type, but for those that only react to it or describe it. */
const naming = (type: EventType): string[] =>
  sources
    .filter(({ file }) => !file.startsWith(DESCRIBING))
    .filter(({ text }) => text.replace(/\bon(?:Heads)?\(\s*\[[^\]]*\]/g, '').includes(`'${type}'`))
    .map(({ file }) => file)

function recipe(type: EventType): string[] {
  const [objectType = '', action = ''] = type.split('.')
  const resource = RESOURCES.find(each => each.objectType === objectType)
  const by = (RECIPE as Readonly<Record<string, (typeof RECIPE)[keyof typeof RECIPE] | undefined>>)[action]
  if (!resource || !by) return []
  const operations = resource.operations.filter(operation => (by.operations as readonly string[]).includes(operation))
  const call = new RegExp(`\\b(?:${by.commands.join('|')})\\(\\s*uow,\\s*${constants.get(objectType)}\\b`)
  return [
    ...(operations.length > 0 ? [`api/resource/routes/routes.ts (${operations.join(', ')})`] : []),
    ...sources.filter(({ text }) => call.test(text)).map(({ file }) => file),
  ]
}

test('every declared event is emitted', async () => {
  const emitters = EVENT_TYPES.map(type => [type, [...new Set([...recipe(type), ...naming(type)])].sort()] as const)
  expect(
    emitters.filter(([, files]) => files.length === 0).map(([type]) => type),
    'emit it, or take it out of the events.ts of its module',
  ).toEqual([])
  const lines = emitters.flatMap(([type, files]) => [type, ...files.map(file => `  ${file}`)])
  await expect(`${lines.join('\n')}\n`, 'npm run record').toMatchFileSnapshot('event-types.txt')
})

test('every change that the operations of a resource make is declared', () => {
  const missing = RESOURCES.flatMap(({ objectType, operations }) =>
    Object.entries(RECIPE)
      .filter(([, by]) => operations.some(operation => (by.operations as readonly string[]).includes(operation)))
      .map(([action]) => `${objectType}.${action}`)
      .filter(type => !(EVENT_TYPES as readonly string[]).includes(type)),
  )
  expect(missing).toEqual([])
})
