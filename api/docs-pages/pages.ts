// The API reference as plain pages, made from the description: one with every operation to search in, one for each tag, and one for
// each shape.
import { refName } from '../description/components.ts'
import { isObject, type JsonObject, objectIn, objectsIn, textIn, textsIn } from '../description/json.ts'
import { TAGS } from '../description/tags.ts'
import type { StaticAnswer } from '../http/pages/static-answers.ts'
import { escaped, inline, PAGE_POLICY, page, paragraphs, SEARCH, STYLE, searchField } from './html.ts'
import { shapeBodies, shapePaths } from './shape-pages.ts'
import { parameterTable, SHAPES, shapePath, shapeTable, typeOf } from './shape-table.ts'

const ROOT = '/v1/docs'
const HTML = 'text/html; charset=utf-8'

const FIXED = [ROOT, `${ROOT}/style.css`, `${ROOT}/search.js`, ...TAGS.map(({ name }) => `${ROOT}/${name}`)]

/** The routes of the pages and of what they are made with. */
export const DOCS_ROUTES: readonly string[] = [...FIXED, SHAPES, shapePath(':name')]

/** The paths that they serve of this description. */
export const docsPaths = (api: JsonObject): string[] => [...FIXED, ...shapePaths(api)]

type Operation = { readonly method: string; readonly path: string; readonly of: JsonObject }

/** Every page by its path. */
export function docsPages(api: JsonObject): Readonly<Record<string, StaticAnswer>> {
  const operations = operationsIn(api)
  const asPage = (title: string, body: string, script?: boolean): StaticAnswer => ({
    type: HTML,
    body: page(title, body, script),
    policy: PAGE_POLICY,
  })
  return {
    [ROOT]: asPage('Millrace API', indexBody(operations), true),
    ...Object.fromEntries(
      shapeBodies(api).map(([path, title, body]) => [path, asPage(`${title} · Millrace API`, body, path === SHAPES)]),
    ),
    [`${ROOT}/style.css`]: { type: 'text/css; charset=utf-8', body: STYLE },
    [`${ROOT}/search.js`]: { type: 'text/javascript; charset=utf-8', body: SEARCH },
    ...Object.fromEntries(
      TAGS.map(({ name, title }) => [
        `${ROOT}/${name}`,
        asPage(`${title} · Millrace API`, tagBody(api, name, operations)),
      ]),
    ),
  }
}

const operationsIn = (api: JsonObject): Operation[] =>
  Object.entries(objectIn(api, 'paths')).flatMap(([path, item]) =>
    isObject(item)
      ? Object.keys(item).map(method => ({ method: method.toUpperCase(), path, of: objectIn(item, method) }))
      : [],
  )

const tagged = (operations: readonly Operation[], tag: string): Operation[] =>
  operations.filter(({ of }) => textsIn(of, 'tags')[0] === tag)

function indexBody(operations: readonly Operation[]): string {
  const groups = TAGS.map(({ name, title, description }) => {
    const items = tagged(operations, name).map(operation => indexItem(name, operation))
    return `<div data-group><h2><a href="${ROOT}/${name}">${escaped(title)}</a></h2>${paragraphs(description)}<ul class="operations">${items.join('')}</ul></div>`
  })
  return `<h1>API reference</h1>
${paragraphs('Send JSON with a key in `X-API-KEY`. Money and quantities are decimals in strings; times are ISO 8601 with an offset. Every answer has an `X-REQUEST-ID`.')}
${searchField({ of: 'operations', example: 'cancel subscription', none: 'No operation has all of these words.' })}
${groups.join('\n')}`
}

function indexItem(tag: string, { method, path, of }: Operation): string {
  const id = textIn(of, 'operationId') ?? ''
  const summary = textIn(of, 'summary') ?? ''
  const old = of.deprecated === true ? ' class="old"' : ''
  return `<li><a href="${ROOT}/${tag}#${id}"${old}>${escaped(summary)}</a><br><span class="quiet"><span class="method">${method}</span> ${escaped(path)}</span></li>`
}

function tagBody(api: JsonObject, tag: string, operations: readonly Operation[]): string {
  const about = TAGS.find(({ name }) => name === tag)
  const sections = tagged(operations, tag).map(operation => operationSection(api, operation))
  return `<h1>${escaped(about?.title ?? tag)}</h1>${paragraphs(about?.description ?? '')}${sections.join('\n')}`
}

function operationSection(api: JsonObject, { method, path, of }: Operation): string {
  const parameters = objectsIn(of, 'parameters').map(each => resolved(api, each))
  const body = bodySchema(objectIn(of, 'requestBody'))
  const id = textIn(of, 'operationId') ?? ''
  return `<section id="${escaped(id)}"><h2>${inline(textIn(of, 'summary') ?? '')}</h2>
<p><code><span class="method">${method}</span> ${escaped(path)}</code>${of.deprecated === true ? ` <span class="quiet">Use ${escaped(String(of['x-alias-of']))} instead.</span>` : ''}</p>
${paragraphs(textIn(of, 'description') ?? '')}
${titled('Path and query', parameterTable(parameters.filter(each => each.in !== 'header')))}
${titled('Headers', parameterTable(parameters.filter(each => each.in === 'header')))}
${body === null ? '' : `<h3>Body</h3><p>${typeOf(body)}</p>${bodyTable(api, body)}`}
<h3>Answers</h3><table>${answerRows(api, of)}</table></section>`
}

const titled = (title: string, table: string): string => (table === '' ? '' : `<h3>${title}</h3>${table}`)

function bodyTable(api: JsonObject, schema: JsonObject): string {
  const shape = shapeNamed(api, refName(schema))
  const [example] = Array.isArray(shape.examples) ? shape.examples : []
  const shown = example === undefined ? '' : `<pre><code>${escaped(JSON.stringify(example, null, 2))}</code></pre>`
  return shapeTable(shape) + shown
}

function answerRows(api: JsonObject, of: JsonObject): string {
  const responses = objectIn(of, 'responses')
  return Object.keys(responses)
    .map(status => {
      const response = resolved(api, objectIn(responses, status))
      const schema = bodySchema(response)
      return `<tr><td>${escaped(status)}</td><td>${schema === null ? '' : typeOf(schema)}</td><td>${inline(textIn(response, 'description') ?? '')}</td></tr>`
    })
    .join('')
}

function bodySchema(holder: JsonObject): JsonObject | null {
  const content = objectIn(holder, 'content')
  const [type] = Object.keys(content)
  return type === undefined ? null : objectIn(objectIn(content, type), 'schema')
}

const shapeNamed = (api: JsonObject, name: string | null): JsonObject =>
  objectIn(objectIn(objectIn(api, 'components'), 'schemas'), name ?? '')

/** What a reference to a component stands for. */
function resolved(api: JsonObject, holder: JsonObject): JsonObject {
  const [, kind, name] = /^#\/components\/(\w+)\/([\w-]+)$/.exec(textIn(holder, '$ref') ?? '') ?? []
  return kind === undefined || name === undefined ? holder : objectIn(objectIn(objectIn(api, 'components'), kind), name)
}
