// The shapes of the reference: an index of their names, and a page for each, so that a browser reads the one that is looked for.
import { type JsonObject, objectIn, textIn } from '../description/json.ts'
import { escaped, paragraphs, searchField } from './html.ts'
import { SHAPES, shapePath, shapeTable } from './shape-table.ts'

const shapesOf = (api: JsonObject): JsonObject => objectIn(objectIn(api, 'components'), 'schemas')

/** The paths of the index and of every page. */
export const shapePaths = (api: JsonObject): string[] => [SHAPES, ...Object.keys(shapesOf(api)).map(shapePath)]

/** Their title and body by path. */
export function shapeBodies(api: JsonObject): readonly (readonly [path: string, title: string, body: string])[] {
  const shapes = shapesOf(api)
  const names = Object.keys(shapes)
  return [
    [SHAPES, 'Shapes', indexBody(names)],
    ...names.map(name => [shapePath(name), name, shapeBody(name, objectIn(shapes, name))] as const),
  ]
}

// Each entry has the name as its id: an address of an earlier release, `shapes#Customer`, leads to the entry.
const indexBody = (names: readonly string[]): string => `<h1>Shapes</h1>
${paragraphs('The objects that operations take and answer. Each has a page of its own.')}
${searchField({ of: 'shapes', example: 'wallet grant', none: 'No shape has all of these words.' })}
<div data-group><ul class="operations">${names
  .map(name => `<li id="${escaped(name)}"><a href="${shapePath(name)}">${escaped(name)}</a></li>`)
  .join('')}</ul></div>`

const shapeBody = (name: string, schema: JsonObject): string =>
  `<h1>${escaped(name)}</h1>${paragraphs(textIn(schema, 'description') ?? '')}${shapeTable(schema)}`
