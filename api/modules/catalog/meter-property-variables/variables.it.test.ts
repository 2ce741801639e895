import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticesOf } from '../../../testing/notices.ts'
import type { Row } from '../../../testing/wire.ts'

const PATH = '/v1/meter-property-variables'
let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

async function propertyOf(type: 'STRING' | 'NUMBER' | 'ENUM', values?: string[]): Promise<Row> {
  const reference = tenant.seed.unique('property')
  const body = { reference, name: reference, type, status: 'ACTIVE', ...(values ? { enum_values: values } : {}) }
  return (await tenant.call('POST', '/v1/meter-properties', body)).body
}

/** A variable of a new STRING property. */
async function variableOf(values: string[]): Promise<string> {
  const property = await propertyOf('STRING')
  const answer = await tenant.call('POST', PATH, { meter_property_id: property['id'], values })
  expect(answer.status).toBe(201)
  return answer.body['id']
}
const patch = (id: string, body: object) => tenant.call('PATCH', `${PATH}/${id}/values`, body)
const outcome = (added: string[], removed: string[], skipped: string[]) => ({
  status: 200,
  body: { added, removed, skipped },
})

async function valuesOf(id: string): Promise<string[]> {
  const values: string[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await tenant.call('GET', `${PATH}/${id}/values?limit=100&page=${page}`)
    values.push(...body['data'].map((entry: Row) => entry['value']))
    if (page >= body['total_number_of_pages']) return values.sort()
  }
}
const countOf = async (id: string): Promise<unknown> => (await tenant.call('GET', `${PATH}/${id}`)).body['value_count']
const many = (count: number, prefix = 'v') => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

describe('a variable', () => {
  test('may have a reference, once', async () => {
    const property = await propertyOf('STRING')
    const reference = tenant.seed.unique('variable')
    const body = { meter_property_id: property['id'], reference }
    expect(await tenant.call('POST', PATH, body)).toMatchObject({ status: 201, body: { reference } })
    expect(refusal(await tenant.call('POST', PATH, body))).toEqual([409, 'RESOURCE_ALREADY_EXISTS', 'reference'])
  })

  test('names its property by id or reference and shows how many values it has, never the values', async () => {
    const property = await propertyOf('STRING')
    const byId = await tenant.call('POST', PATH, { meter_property_id: property['id'], values: ['a', 'b', 'a'] })
    const byReference = await tenant.call('POST', PATH, { meter_property_reference: property['reference'] })
    const shown = { meter_property_id: property['id'], meter_property_reference: property['reference'] }
    expect(byId).toMatchObject({ status: 201, body: { ...shown, value_count: 2 } })
    expect(byReference).toMatchObject({ status: 201, body: { ...shown, value_count: 0 } })
    const one = await tenant.call('GET', `${PATH}/${byId.body['id']}?expand[]=meter_property`)
    expect(one.body).toMatchObject({ value_count: 2, meter_property: { id: property['id'] } })
    const { body: list } = await tenant.call('GET', `${PATH}?meter_property_id=${property['id']}`)
    expect(list['data']).toHaveLength(2)
    for (const view of [one.body, ...list['data']]) expect(view).not.toHaveProperty('values')
  })

  test('needs exactly one property that exists', async () => {
    const property = await propertyOf('STRING')
    const both = { meter_property_id: property['id'], meter_property_reference: property['reference'] }
    expect(refusal(await tenant.call('POST', PATH, both))).toEqual([400, 'INVALID_FIELD', 'meter_property_reference'])
    expect(refusal(await tenant.call('POST', PATH, {}))).toEqual([400, 'MISSING_FIELD', 'meter_property_id'])
    const unknown = { meter_property_reference: 'nobody-knows-it' }
    expect(refusal(await tenant.call('POST', PATH, unknown))).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'meter_property_reference',
    ])
    const asId = { meter_property_id: property['reference'] }
    expect(refusal(await tenant.call('POST', PATH, asId))).toEqual([404, 'RESOURCE_NOT_FOUND', 'meter_property_id'])
  })

  test('takes only values its property can have, and a number in one form', async () => {
    const number = await propertyOf('NUMBER')
    const { body } = await tenant.call('POST', PATH, { meter_property_id: number['id'], values: ['1.0', '1', '02.50'] })
    expect(body['value_count']).toBe(2)
    expect(await valuesOf(body['id'])).toEqual(['1', '2.5'])
    expect(await patch(body['id'], { add: ['1.00'] })).toMatchObject(outcome([], [], ['1']))
    expect(refusal(await patch(body['id'], { add: ['3', 'x'] }))).toEqual([400, 'INVALID_FIELD', 'add.1'])
    const list = await propertyOf('ENUM', ['eu', 'us'])
    const created = await tenant.call('POST', PATH, { meter_property_id: list['id'], values: ['eu', 'mars'] })
    expect(refusal(created)).toEqual([400, 'INVALID_FIELD', 'values.1'])
  })

  test('leaves its events in the outbox, and none where nothing changed', async () => {
    const id = await variableOf(['a'])
    await patch(id, { add: ['b'] })
    await patch(id, { add: ['b'] })
    await tenant.call('DELETE', `${PATH}/${id}`)
    const rows = await noticesOf(api, id)
    expect(rows.map(row => [row['type'], row['data'].value_count, row['previous_data']?.value_count])).toEqual([
      ['METER_PROPERTY_VARIABLE.CREATED', 1, undefined],
      ['METER_PROPERTY_VARIABLE.UPDATED', 2, 1],
      ['METER_PROPERTY_VARIABLE.DELETED', 2, undefined],
    ])
    expect(
      await api.sql('select 1 from meter_property_variable_values where meter_property_variable_id = $1', [id]),
    ).toEqual([])
  })
})

describe('a change of values', () => {
  test('adds and removes at once, and says what became of each value', async () => {
    const id = await variableOf(['a', 'b', 'c'])
    expect(await patch(id, { add: ['d', 'a', 'd'], remove: ['b', 'z'] })).toMatchObject(
      outcome(['d'], ['b'], ['a', 'z']),
    )
    expect(await valuesOf(id)).toEqual(['a', 'c', 'd'])
    expect(await countOf(id)).toBe(3)
  })

  test('is answered the same when it is repeated, in whatever order, and changes nothing', async () => {
    const id = await variableOf(['a', 'b', 'c'])
    const first = await patch(id, { add: ['d', 'a'], remove: ['b', 'z'] })
    expect(await patch(id, { add: ['d', 'a'], remove: ['b', 'z'] })).toMatchObject({ status: 200, body: first.body })
    const other = await patch(id, { add: ['e'], remove: ['c'] })
    // Also after another change, of other values.
    expect((await patch(id, { add: ['d', 'a'], remove: ['b', 'z'] })).body).toEqual(first.body)
    expect((await patch(id, { add: ['e'], remove: ['c'] })).body).toEqual(other.body)
    expect((await patch(id, { remove: ['z', 'b'], add: ['a', 'd', 'a'] })).body).toEqual({
      ...first.body,
      skipped: ['a', 'z'],
    })
    expect(await valuesOf(id)).toEqual(['a', 'd', 'e'])
    expect(await countOf(id)).toBe(3)
  })

  test('is done again when another request has undone it', async () => {
    const id = await variableOf([])
    expect((await patch(id, { add: ['a'] })).body['added']).toEqual(['a'])
    expect((await patch(id, { remove: ['a'] })).body['removed']).toEqual(['a'])
    expect((await patch(id, { add: ['a'] })).body['added']).toEqual(['a'])
    expect(await valuesOf(id)).toEqual(['a'])
  })

  test('of another request than the one that did it is skipped', async () => {
    const id = await variableOf(['a'])
    expect(await patch(id, { add: ['a', 'b'] })).toMatchObject(outcome(['b'], [], ['a']))
    expect(await patch(id, { add: ['b'] })).toMatchObject(outcome([], [], ['b']))
    expect(await patch(id, { remove: ['q'] })).toMatchObject(outcome([], [], ['q']))
  })

  test('forgets who removed a value after two days', async () => {
    const id = await variableOf(['a', 'b'])
    const start = Date.now()
    api.clock.set(start)
    await patch(id, { remove: ['a'] })
    api.clock.set(start + 49 * 3_600_000)
    expect((await patch(id, { remove: ['b'] })).body['removed']).toEqual(['b'])
    expect((await patch(id, { remove: ['a'] })).body['skipped']).toEqual(['a'])
    const kept = await api.sql(
      'select value from meter_property_variable_values where meter_property_variable_id = $1',
      [id],
    )
    expect(kept).toEqual([{ value: 'b' }])
  })

  test('refuses a value in both lists, and changes nothing', async () => {
    const id = await variableOf(['a'])
    expect(refusal(await patch(id, { add: ['b', 'c'], remove: ['a', 'c'] }))).toEqual([400, 'INVALID_FIELD', 'remove'])
    expect(await valuesOf(id)).toEqual(['a'])
  })

  test('holds 10,000 values and refuses one more, changing nothing', async () => {
    const id = await variableOf(many(10_000))
    expect(refusal(await patch(id, { add: ['x', 'v1'], remove: ['nothing'] }))).toEqual([400, 'INVALID_FIELD', 'add'])
    expect(await countOf(id)).toBe(10_000)
    // What goes makes room for what comes.
    expect((await patch(id, { add: ['x'], remove: ['v0'] })).status).toBe(200)
    expect((await valuesOf(id)).toSorted()).toEqual([...many(10_000).slice(1), 'x'].sort())
    const property = await propertyOf('STRING')
    const tooMany = await tenant.call('POST', PATH, { meter_property_id: property['id'], values: many(10_001) })
    expect(refusal(tooMany)).toEqual([400, 'INVALID_FIELD', 'values'])
    const twice = [...many(10_000), ...many(5_000)]
    const created = await tenant.call('POST', PATH, { meter_property_id: property['id'], values: twice })
    expect(created.body['value_count']).toBe(10_000)
  })

  test('queues behind another: two at once never exceed the limit and never lose a value', async () => {
    const id = await variableOf(many(9_990))
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, index) => patch(id, { add: many(5, `n${index}-`) })),
    )
    expect(answers.map(answer => answer.status).toSorted()).toEqual([200, 200, 400, 400, 400])
    expect(await countOf(id)).toBe(10_000)
    expect(await valuesOf(id)).toHaveLength(10_000)
  })

  test('sent twice at once does its work once and answers both alike', async () => {
    const id = await variableOf(['a'])
    const [one, two] = await Promise.all([1, 2].map(() => patch(id, { add: ['b', 'a'], remove: ['a-not'] })))
    expect(one?.body).toEqual({ added: ['b'], removed: [], skipped: ['a', 'a-not'] })
    expect(two?.body).toEqual(one?.body)
  })

  test('the list is that of a set, whatever is sent, and every request may be repeated', async () => {
    const value = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    const values = fc.uniqueArray(value, { maxLength: 5 })
    const request = fc.record({ add: values, remove: values }).map(({ add, remove }) => ({
      add,
      remove: remove.filter(each => !add.includes(each)),
    }))
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 5 }), async requests => {
        const id = await variableOf([])
        const model = new Set<string>()
        for (const body of requests) {
          for (const each of body.add) model.add(each)
          for (const each of body.remove) model.delete(each)
          const first = await patch(id, body)
          const reported = [...first.body['added'], ...first.body['removed'], ...first.body['skipped']]
          expect(reported.toSorted()).toEqual([...body.add, ...body.remove].toSorted())
          expect((await patch(id, body)).body).toEqual(first.body)
          expect(await valuesOf(id)).toEqual([...model].sort())
          expect(await countOf(id)).toBe(model.size)
        }
      }),
      { numRuns: 15 },
    )
  })
})

describe('reading values by cursors', () => {
  test('gives each value once, forwards and backwards, while others are added', async () => {
    const property = await propertyOf('STRING')
    const values = ['b', 'a c&d', 'c', 'x'.repeat(1_000), 'e']
    const { body: variable } = await tenant.call('POST', PATH, { meter_property_id: property['id'], values })
    const url = `${PATH}/${variable['id']}/values`
    const textsOf = (body: Row): string[] => body['data'].map((entry: Row) => entry['value'])
    const all = textsOf((await tenant.call('GET', url)).body)
    expect(all.toSorted()).toEqual(values.toSorted())
    const read = [all[0]]
    const first = new URLSearchParams({ limit: '2', starting_after: all[0] ?? '' })
    for (let at: string | null = `${url}?${first}`; at !== null; ) {
      const { status, body }: { status: number; body: Row } = await tenant.call('GET', at)
      expect([status, 'page' in body]).toEqual([200, false])
      read.push(...textsOf(body))
      at = body['links'].next
    }
    expect(read).toEqual(all)
    const last = new URLSearchParams({ limit: '2', ending_before: all.at(-1) ?? '' })
    const before = await tenant.call('GET', `${url}?${last}`)
    expect([textsOf(before.body), before.body['has_more']]).toEqual([all.slice(-3, -1), true])
  })

  test('is refused for a value that is not there', async () => {
    const property = await propertyOf('STRING')
    const { body } = await tenant.call('POST', PATH, { meter_property_id: property['id'], values: ['a'] })
    await patch(body['id'], { remove: ['a'] })
    const gone = await tenant.call('GET', `${PATH}/${body['id']}/values?starting_after=a`)
    expect([gone.status, gone.body['code'], gone.body['field']]).toEqual([400, 'INVALID_FIELD', 'starting_after'])
  })
})
