// What everyone who generates a client, or reads the reference, relies on.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { PATTERN_HELP } from '../http/body/value-texts.ts'
import { EVENT_TYPES } from '../modules/modules.ts'
import { createChecker } from '../testing/checker.ts'
import { describedApi } from '../testing/described-api.ts'
import { isObject, type Json, type JsonObject, objectIn, objectsIn, shapeText, textIn, textsIn } from './json.ts'

let api: JsonObject
beforeAll(async () => {
  api = await describedApi()
}, 60_000)

type Operation = { readonly place: string; readonly method: string; readonly path: string; readonly of: JsonObject }
const operations = (): Operation[] =>
  Object.entries(objectIn(api, 'paths')).flatMap(([path, item]) =>
    Object.keys(isObject(item) ? item : {}).map(method => ({
      place: `${method.toUpperCase()} ${path}`,
      method,
      path,
      of: objectIn(isObject(item) ? item : {}, method),
    })),
  )
const shapes = (): [string, JsonObject][] => {
  const all = objectIn(objectIn(api, 'components'), 'schemas')
  return Object.keys(all).map(name => [name, objectIn(all, name)])
}
const wrong = (of: (each: Operation) => boolean): string[] =>
  operations()
    .filter(each => !of(each))
    .map(({ place }) => place)

/** The text of every module of these folders that is no test. */
const sources = (...folders: string[]): string[] =>
  folders.flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map(file => readFileSync(join(folder, file), 'utf8')),
  )

describe('operations', () => {
  test('there are all of them, each with an id of its own', () => {
    const ids = operations().map(({ of }) => textIn(of, 'operationId'))
    expect(ids.length).toBeGreaterThan(180)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(id => !/^[a-z][a-z0-9_]+$/.test(id ?? ''))).toEqual([])
  })

  test('each says what it does in a summary and in a sentence or more', () => {
    const ends = (text: string | null): boolean => text !== null && /[.`]$/.test(text)
    expect(wrong(({ of }) => ends(textIn(of, 'summary')))).toEqual([])
    const own = (of: JsonObject): string => textIn(of, 'description')?.split('\n\nNeeds')[0] ?? ''
    expect(wrong(({ of }) => own(of).length > 20 && own(of).endsWith('.'))).toEqual([])
    const articles = operations().filter(({ of }) =>
      /\ba [aeio]|\ban (?!https)[^aeiouAEIOXU]/.test(`${of.summary} ${of.description}`),
    )
    expect(articles.map(({ of }) => of.summary)).toEqual([])
  })

  test('each has one tag, and the tags stand in an order with a text', () => {
    const tags = objectsIn(api, 'tags')
    expect(tags.filter(tag => !textIn(tag, 'description'))).toEqual([])
    const names = tags.map(tag => textIn(tag, 'name'))
    expect(
      wrong(({ of }) => textsIn(of, 'tags').every(tag => names.includes(tag))),
      'give the first part of the path a tag in api/description/tags.ts',
    ).toEqual([])
    expect(names.filter(name => !operations().some(({ of }) => textsIn(of, 'tags')[0] === name))).toEqual([])
  })

  test('each POST that needs no member of its body may be sent without one, and nothing else may', () => {
    const check = createChecker(api)
    const shapeOf = ({ of }: Operation): string => {
      const content = objectIn(objectIn(objectIn(of, 'requestBody'), 'content'), 'application/json')
      return textIn(objectIn(content, 'schema'), '$ref')?.split('/').at(-1) ?? ''
    }
    const withBody = operations().filter(each => shapeOf(each) !== '')
    const optional = withBody.filter(({ of }) => objectIn(of, 'requestBody')['required'] === false)
    expect(optional.map(({ place }) => place)).toEqual(
      expect.arrayContaining(['POST /v1/pricing-plan-subscriptions/{id}/pause']),
    )
    const takesNone = withBody.filter(each => each.method === 'post' && check(shapeOf(each), {}) === null)
    expect(optional.map(({ place }) => place)).toEqual(takesNone.map(({ place }) => place))
  })

  test('each pattern that a caller can fail is explained in words', () => {
    const patterns = [...JSON.stringify(api).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text = '""']) =>
      JSON.parse(text),
    )
    expect(patterns).toContain('\\S')
    // Codes of currencies and countries are refused by their format.
    const explained = [...Object.keys(PATTERN_HELP), '^[A-Z]{3}$', '^[A-Z]{2}$']
    expect(patterns.filter(pattern => !explained.includes(pattern))).toEqual([])
  })

  test('each answers errors in the one shape, by status', () => {
    const always = ['400', '401', '403', '404', '429', '500', '503']
    expect(wrong(({ of }) => always.every(status => status in objectIn(of, 'responses')))).toEqual([])
    expect(wrong(({ of }) => of.requestBody === undefined || '415' in objectIn(of, 'responses'))).toEqual([])
    const responses = objectIn(objectIn(api, 'components'), 'responses')
    for (const name of Object.keys(responses)) {
      const response = objectIn(responses, name)
      expect(objectIn(response, 'headers')).toHaveProperty('X-REQUEST-ID')
      const schema = objectIn(objectIn(objectIn(response, 'content'), 'application/json'), 'schema')
      expect(schema).toEqual({ $ref: '#/components/schemas/Error' })
    }
  })

  test('one that creates answers 201 alone, and one that may repeat names its headers', () => {
    const creates = operations().filter(({ of }) => textIn(of, 'operationId')?.endsWith('_create'))
    expect(creates.length).toBeGreaterThan(15)
    expect(creates.filter(({ of }) => '200' in objectIn(of, 'responses')).map(({ place }) => place)).toEqual([])
    const headers = (of: JsonObject) => objectsIn(of, 'parameters').map(parameter => textIn(parameter, '$ref'))
    const keyed = creates.filter(({ of }) => headers(of).includes('#/components/parameters/IdempotencyKey'))
    expect(keyed.length).toBe(creates.length)
  })

  test('second addresses are deprecated and name the first', () => {
    const aliases = operations().filter(({ of }) => of['x-alias-of'] !== undefined)
    expect(aliases.length).toBeGreaterThan(8)
    const ids = operations().map(({ of }) => of.operationId)
    expect(aliases.filter(({ of }) => of.deprecated !== true || !ids.includes(of['x-alias-of']))).toEqual([])
    expect(wrong(({ path, of }) => !path.startsWith('/v1/ingest/meter-data') || of.deprecated === true)).toEqual([])
  })

  test('list filters are lists, and page and limit are numbers with bounds', () => {
    for (const { of } of operations()) {
      for (const parameter of objectsIn(of, 'parameters')) {
        const name = textIn(parameter, 'name') ?? ''
        const schema = objectIn(parameter, 'schema')
        if (name.endsWith('[]')) {
          expect(parameter).toMatchObject({ style: 'form', explode: true })
          expect(schema.type).toBe('array')
        }
        if (name === 'page' || name === 'limit') expect(schema).toMatchObject({ type: 'integer', minimum: 1 })
      }
    }
  })

  test('actions on lists are one object, of the lists that a change may send', () => {
    const customers = operations().find(({ place }) => place === 'PATCH /v1/customers/{id}')
    const parameters = objectsIn(customers?.of ?? {}, 'parameters')
    expect(parameters.find(({ name }) => name === 'field_actions')).toMatchObject({
      style: 'deepObject',
      schema: {
        propertyNames: { enum: ['notification_preferences', 'parent_customer_ids', 'roles', 'custom_fields'] },
        additionalProperties: { type: 'string', enum: ['REPLACE', 'ADD', 'REMOVE', 'CLEAR'] },
      },
    })
    expect(parameters.filter(({ name }) => String(name).includes('field_actions['))).toEqual([])
  })

  test('files are described as what they are', () => {
    const content = (id: string, of: (operation: JsonObject) => JsonObject): string[] => {
      const found = operations().find(each => each.of.operationId === id)
      return Object.keys(objectIn(of(found?.of ?? {}), 'content'))
    }
    const success = (operation: JsonObject) => objectIn(objectIn(operation, 'responses'), '200')
    expect(content('invoices_pdf_read', success)).toEqual(['application/pdf'])
    expect(content('meters_meter_data_file_read', success)).toEqual(['text/csv'])
    expect(content('files_content_set', operation => objectIn(operation, 'requestBody'))).toEqual(['text/csv'])
  })
})

describe('shapes', () => {
  test('every field and every parameter has a description', () => {
    const bare = shapes().flatMap(([name, schema]) =>
      Object.entries(objectIn(schema, 'properties')).flatMap(([field, member]) =>
        isObject(member) && textIn(member, 'description') ? [] : [`${name}.${field}`],
      ),
    )
    expect(bare, 'write their texts in api/description/fields').toEqual([])
    const parameters = operations().flatMap(({ place, of }) =>
      objectsIn(of, 'parameters').flatMap(parameter =>
        '$ref' in parameter || textIn(parameter, 'description') ? [] : [`${place} ${parameter.name}`],
      ),
    )
    expect(parameters, 'write their texts in api/description/texts/describe-parameters.ts').toEqual([])
  })

  test('a status, and what else answers one of a few values, says which', () => {
    const CLOSED =
      /^(status|payment_status|billing_type|model_type|rounding_mode|comparator|environment|target_environment|action)$/
    const open = shapes().flatMap(([name, shape]) =>
      Object.entries(objectIn(shape, 'properties'))
        .filter(([field, schema]) => CLOSED.test(field) && !/"(enum|const|\$ref)":/.test(JSON.stringify(schema)))
        .map(([field]) => `${name}.${field}`),
    )
    expect(open).toEqual([])
  })

  test('a code of ISO has the form of one, and what names a kind of thing takes one of a list', () => {
    const fields = shapes().flatMap(([name, schema]) =>
      Object.entries(objectIn(schema, 'properties')).map(([field, member]) => ({
        at: `${name}.${field}`,
        field,
        member,
      })),
    )
    const without = (names: RegExp, form: RegExp) =>
      fields.filter(({ field, member }) => names.test(field) && !form.test(JSON.stringify(member))).map(({ at }) => at)
    expect(without(/^(?!amount_in_)(.*_)?currency$/, /"\^\[A-Z\]\{3\}\$"/)).toEqual([])
    expect(without(/^country(_code)?$/, /"\^\[A-Z\]\{2\}\$"/)).toEqual([])
    expect(
      without(
        /^(object_type|resource_type|discount_type|pricing_type|(in|ex)cluded_actions)$/,
        /"(enum|const|\$ref)":/,
      ),
    ).toEqual([])
  })

  test('every refusal names a kind of thing that the description lists', () => {
    const { enum: listed } = objectIn(
      objectIn(objectIn(objectIn(objectIn(api, 'components'), 'schemas'), 'Error'), 'properties'),
      'resource_type',
    )
    const named = sources('api', 'ingest', 'identity', 'shared').flatMap(text =>
      [...text.matchAll(/\bresourceType: '([A-Z_]+)'/g)].map(([, type]) => type),
    )
    expect(named.length).toBeGreaterThan(20)
    const unlisted = [...new Set(named)].filter(type => !Array.isArray(listed) || !listed.includes(type ?? ''))
    expect(unlisted, 'name them in otherObjectTypes of their modules').toEqual([])
  })

  test('no object is written out inside another, and no two components are the same', () => {
    const inline: string[] = []
    const visit = (value: Json | undefined, at: string, isTop: boolean): void => {
      if (Array.isArray(value)) for (const [index, each] of value.entries()) visit(each, `${at}.${index}`, false)
      if (!isObject(value)) return
      if (!isTop && isObject(value.properties)) inline.push(at)
      for (const [name, member] of Object.entries(value)) if (name !== 'examples') visit(member, `${at}.${name}`, false)
    }
    visit(api.paths, 'paths', false)
    for (const [name, schema] of shapes()) visit(schema, name, true)
    expect(inline).toEqual([])
    const seen = new Map<string, string>()
    const twice: string[] = []
    for (const [name, schema] of shapes()) {
      const earlier = seen.get(shapeText(schema))
      if (earlier !== undefined) twice.push(`${earlier} and ${name}`)
      seen.set(shapeText(schema), name)
    }
    expect(twice).toEqual([])
  })

  test('every reference leads somewhere, and every component is referred to', () => {
    const text = JSON.stringify(api)
    const refs = new Set(
      [...text.matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)].map(([, kind, name]) => `${kind}/${name}`),
    )
    const components = objectIn(api, 'components')
    const all = Object.keys(components).flatMap(kind =>
      kind === 'securitySchemes' ? [] : Object.keys(objectIn(components, kind)).map(name => `${kind}/${name}`),
    )
    expect([...refs].filter(ref => !all.includes(ref))).toEqual([])
    expect(all.filter(name => !refs.has(name))).toEqual([])
  })

  // Answers that are made of other answers. Those have examples of their own.
  const PUT_TOGETHER = [
    'InvoicePreviews',
    'OnDemandInvoice',
    'PricingPlanVersionCalculation',
    'PricingPlanSubscriptionInit',
  ]
  test('what an operation takes, and what it answers, has an example', () => {
    const named = new Map(shapes())
    const bare = operations().flatMap(({ of }) => {
      const successes = Object.entries(objectIn(of, 'responses')).filter(([status]) => status.startsWith('2'))
      const answers = successes.map(([, answer]) => (isObject(answer) ? answer : {}))
      return [objectIn(of, 'requestBody'), ...answers].flatMap(part => {
        const json = objectIn(objectIn(part, 'content'), 'application/json')
        const schema = objectIn(json, 'schema')
        const name = textIn(schema, '$ref')?.split('/').at(-1)
        if (name !== undefined) return named.get(name)?.examples === undefined ? [name] : []
        // An object of any members has nothing to show.
        return json.example === undefined && Object.keys(schema).some(key => key !== 'type')
          ? [`${of.operationId}`]
          : []
      })
    })
    expect([...new Set(bare)].toSorted(), 'npm run record').toEqual(PUT_TOGETHER.toSorted())
  })

  test('every resource and its create body have an example, and every example is valid', () => {
    const check = createChecker(api)
    const wrongExamples = shapes().flatMap(([name, schema]) => {
      const [example] = Array.isArray(schema.examples) ? schema.examples : []
      const fault = example === undefined ? null : check(name, example)
      return fault === null ? [] : [`${name}: ${fault}`]
    })
    expect(wrongExamples).toEqual([])
    const creates = shapes().filter(
      ([name]) => name.endsWith('Create') && shapes().some(([other]) => other === name.slice(0, -6)),
    )
    expect(
      creates.filter(([, schema]) => schema.examples === undefined).map(([name]) => name),
      'npm run record',
    ).toEqual([])
  })
})

test('webhooks: each event type has a payload whose data is the shape that the api answers, in little space', () => {
  const webhooks = objectIn(api, 'webhooks')
  expect(Object.keys(webhooks)).toEqual(EVENT_TYPES)
  const named = new Map(shapes())
  const refOf = (schema: JsonObject): string => textIn(schema, '$ref')?.split('/').at(-1) ?? ''
  for (const type of EVENT_TYPES) {
    const post = objectIn(objectIn(webhooks, type), 'post')
    const body = objectIn(objectIn(objectIn(post, 'requestBody'), 'content'), 'application/json')
    const members = objectIn(named.get(refOf(objectIn(body, 'schema'))) ?? {}, 'properties')
    expect([type, textsIn(objectIn(members, 'type'), 'enum')]).toEqual([type, expect.arrayContaining([type])])
    const data = named.get(refOf(objectIn(members, 'data')))
    const objectType = textsIn(objectIn(objectIn(data ?? {}, 'properties'), 'object_type'), 'enum')
    expect([type, objectType.length === 0 || type.startsWith(`${objectType[0]}.`)]).toEqual([type, true])
    expect([type, data === undefined]).toEqual([type, false])
    if (type.endsWith('.UPDATED')) expect(members['previous_data']).toBeDefined()
  }
  // Nothing is written out twice: the section and its payloads are a small part of the whole.
  const own = JSON.stringify([webhooks, shapes().filter(([name]) => name.endsWith('EventPayload'))]).length
  expect(own).toBeLessThan(JSON.stringify(api).length / 10)
})

// The name of a shape is the name of a class in every generated client. A new one is added by `npm run record`; one that changes
// or goes is a break.
test('the names of the shapes stay', async () => {
  const names = shapes().map(([name]) => name)
  await expect(`${names.join('\n')}\n`, 'npm run record').toMatchFileSnapshot('names/component-names.txt')
})

test('redocly lint finds nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'openapi-'))
  try {
    const file = join(folder, 'openapi.json')
    await writeFile(file, JSON.stringify(api))
    const tool = join(process.cwd(), 'node_modules', '@redocly', 'cli', 'bin', 'cli.js')
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const { stdout } = await promisify(execFile)(process.execPath, [tool, 'lint', '--format=json', file], {
      cwd: folder,
      env,
    })
    const result: unknown = JSON.parse(stdout.slice(stdout.indexOf('{')))
    expect(result).toMatchObject({ totals: { errors: 0, warnings: 0 } })
  } finally {
    await rm(folder, { recursive: true })
  }
  // A process of its own, which reads the whole description; a busy machine takes long over that.
}, 180_000)
