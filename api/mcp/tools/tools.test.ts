import { expect, test } from 'vitest'
import { operationIdOf } from '../../description/names/operation-id.ts'
import { requestOf } from '../request.ts'
import { inputSchemaOf, toolsOf } from './tools.ts'

test.each([
  ['GET', '/v1/customers', 'customers_list'],
  ['POST', '/v1/customers', 'customers_create'],
  ['PUT', '/v1/customers', 'customers_upsert'],
  ['POST', '/v1/customers/search', 'customers_search'],
  ['GET', '/v1/customers/{id}', 'customers_get'],
  ['PATCH', '/v1/customers/{id}', 'customers_update'],
  ['DELETE', '/v1/customers/{id}', 'customers_delete'],
  ['POST', '/v1/customers/{id}/archive', 'customers_archive'],
  ['GET', '/v1/meter-property-variables/{id}/values', 'meter_property_variables_values_read'],
  ['PATCH', '/v1/meter-property-variables/{id}/values', 'meter_property_variables_values_change'],
  ['POST', '/v1/teams/{id}/members', 'teams_members'],
  ['GET', '/v1/teams/{id}/members', 'teams_members_read'],
  ['GET', '/v1/teams/{id}/members/{user_id}', 'teams_members_get'],
  ['DELETE', '/v1/teams/{id}/members/{user_id}', 'teams_members_delete'],
  ['GET', '/v1/events/{id}/event_trace', 'events_event_trace_read'],
] as const)('%s %s is %s', (method, path, name) => {
  expect(operationIdOf({ method, path })).toBe(name)
})

const described = (parameters: object[], more: object = {}) => ({
  paths: { '/v1/things/{id}': { get: { parameters, 'x-permission': 'THING.VIEW', tags: ['things'], ...more } } },
})
const ID = { in: 'path', name: 'id', required: true, schema: { type: 'string' } }
const query = (name: string) => ({ in: 'query', name, schema: { type: 'string' } })

test('two operations of one name, or an argument of two meanings, do not start', () => {
  const twice = { paths: { '/v1/a/b': { get: {} }, '/v1/a/{id}/b': { get: {} } } }
  expect(() => toolsOf(twice)).toThrow('GET /v1/a/{id}/b would be a second tool named a_b_read')
  expect(() => toolsOf(described([ID, query('id')]))).toThrow('the argument id of things_get would mean two things')
  expect(() => toolsOf(described([ID, query('platform_id')]))).toThrow('platform_id')
  expect(() => toolsOf({ paths: { [`/v1/${'x'.repeat(48)}`]: { get: {} } } })).toThrow('too long')
})

test('arguments go where the operation has them', () => {
  const tool = toolsOf(described([ID, query('statuses[]'), query('order_by')])).get('things_get')
  if (!tool) throw new Error('no tool')
  expect(Object.keys(inputSchemaOf(tool).properties)).toEqual([
    'id',
    'statuses',
    'order_by',
    'platform_id',
    'environment',
  ])
  expect(
    requestOf(tool, { id: 'a b/c', statuses: ['X', 'Y&Z'], order_by: null, platform_id: 'p', environment: 'LIVE' }),
  ).toEqual({
    method: 'GET',
    url: '/v1/things/a%20b%2Fc?statuses%5B%5D=X&statuses%5B%5D=Y%26Z',
    headers: { 'x-platform-id': 'p', 'x-environment': 'LIVE' },
  })
})

test('an argument that is an object becomes a parameter for each member', () => {
  const actions = { ...query('field_actions'), schema: { type: 'object', additionalProperties: { enum: ['ADD'] } } }
  const tool = toolsOf(described([ID, actions])).get('things_get')
  if (!tool) throw new Error('no tool')
  const request = (field_actions: unknown) => requestOf(tool, { id: 'a', field_actions })
  expect(request({ lists: 'ADD', others: 'ADD' }).url).toBe(
    '/v1/things/a?field_actions%5Blists%5D=ADD&field_actions%5Bothers%5D=ADD',
  )
  expect(request({}).url).toBe('/v1/things/a')
  expect(() => request('ADD')).toThrow('field_actions must be an object')
  expect(() => request({ lists: {} })).toThrow('field_actions must be a text')
})

test('an operation that declares no permission is taken for one that changes something', () => {
  const tool = toolsOf(described([ID], { 'x-permission': undefined })).get('things_get')
  expect(tool?.isRead).toBe(false)
})

test('an agent reads who has access, and changes nothing about it', () => {
  const tools = toolsOf({
    paths: {
      '/v1/api-keys': { get: { 'x-permission': 'API_KEY.VIEW' }, post: { 'x-permission': 'API_KEY.CREATE' } },
      '/v1/users/{id}/memberships': { get: { 'x-permission': 'USER.VIEW' }, post: { 'x-permission': 'USER.UPDATE' } },
      '/v1/roles/{id}': { patch: { 'x-permission': 'ROLE.UPDATE' }, delete: { 'x-permission': 'ROLE.DELETE' } },
    },
  })
  expect([...tools.keys()]).toEqual(['api_keys_list', 'users_memberships_read'])
})
