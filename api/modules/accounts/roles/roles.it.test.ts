// A tenant's own roles through the api: what they may say, what they allow at once, and who may make them.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createResource, updateResource } from '../../../resource/commands.ts'
import { refusal } from '../../../testing/catalog.ts'
import { startApiWithUsers, type UserHarness } from '../../../testing/user-harness.ts'
import { roleResource } from './role.ts'

let api: UserHarness
let administrator: string
beforeAll(async () => {
  api = await startApiWithUsers()
  administrator = await api.administrator(api.tenants.aLive.tenant)
})
afterAll(() => api?.close())

const call: UserHarness['tenants']['aLive']['call'] = (...input) => api.tenants.aLive.call(...input)
let counter = 0
async function aRole(body: object = {}): Promise<string> {
  counter += 1
  const made = await call('POST', '/v1/roles', { name: `Role ${counter}`, permissions: ['CUSTOMER.VIEW'], ...body })
  expect(made.status).toBe(201)
  return made.body['id']
}
/** An ACTIVE user who has these roles and no others. */
async function aUserWith(...role_ids: string[]): Promise<string> {
  const id = await api.administrator(api.tenants.aLive.tenant)
  const [membership] = (await call('GET', `/v1/users/${id}/memberships`)).body as unknown as { id: string }[]
  const patched = await call('PATCH', `/v1/users/${id}/memberships/${membership?.id}`, { role_ids })
  expect(patched.status).toBe(200)
  return id
}

test('the permissions of the api are listed, and stand in its description', async () => {
  const { data } = (await call('GET', '/v1/permissions')).body
  const names = data.map((permission: { name: string }) => permission.name)
  expect(names).toEqual([...new Set(api.routes.map(route => route.permission))].sort())
  const description = (await call('GET', '/v1/openapi.json')).body
  expect(description['x-permissions']).toEqual(names)
  expect(description['paths']['/v1/roles'].post['x-permission']).toBe('ROLE.CREATE')
})

test('a role is made, read with its children, changed and deleted', async () => {
  const child = await aRole({ description: 'Looks.' })
  const id = await aRole({ child_role_ids: [child, child, 'role_viewer'] })
  const read = (await call('GET', `/v1/roles/${id}`)).body
  expect(read).toMatchObject({ object_type: 'ROLE', child_role_ids: [child, 'role_viewer'] })
  expect(read['entity_id']).toBe(api.tenants.aLive.tenant.platformId)
  expect(read['child_roles'].map((role: { id: string }) => role.id).sort()).toEqual([child, 'role_viewer'].sort())
  expect((await call('PATCH', `/v1/roles/${id}`, { child_role_ids: null })).body['child_role_ids']).toEqual([])
  expect((await call('DELETE', `/v1/roles/${id}`)).status).toBe(200)
  expect((await call('GET', `/v1/roles/${id}`)).status).toBe(404)
})

test('lists have the built-in roles, and filter', async () => {
  const child = await aRole({ name: 'A child' })
  await aRole({ name: 'A parent', child_role_ids: [child] })
  const all = (await call('GET', '/v1/roles?limit=100')).body['data']
  expect(all.slice(0, 3).map((role: { name: string }) => role.name)).toEqual(['Administrator', 'Contributor', 'Viewer'])
  const [parent] = (await call('GET', '/v1/roles?name=A%20parent&include_child_roles=true')).body['data']
  expect(parent.child_roles).toMatchObject([{ id: child }])
  const childless = (await call('GET', '/v1/roles?only_childless_roles=true&limit=100')).body['data']
  expect(childless.map((role: { name: string }) => role.name)).not.toContain('A parent')
  const page = (await call('GET', '/v1/roles?limit=2&page=2')).body
  expect(page).toMatchObject({ page: 2, data: [{ name: 'Viewer' }, {}] })
})

test.each<[string, object, unknown[]]>([
  [
    'a permission nobody declares',
    { permissions: ['CUSTOMER.VIEW', 'CUSTOMER.FLY'] },
    [400, 'INVALID_FIELD', 'permissions.1'],
  ],
  ['a permission in small letters', { permissions: ['customer.view'] }, [400, 'INVALID_FIELD', 'permissions.0']],
  ['a child nobody knows', { child_role_ids: ['role_nobody'] }, [404, 'RESOURCE_NOT_FOUND', 'child_role_ids.0']],
  ['no name', { name: undefined }, [400, 'MISSING_FIELD', 'name']],
  ['a name that is taken', { name: 'Taken' }, [409, 'RESOURCE_ALREADY_EXISTS', 'name']],
  ['an id of its own', { id: 'role_mine' }, [400, 'INVALID_FIELD', 'id']],
])('%s is refused', async (_what, body, expected) => {
  if ((await call('GET', '/v1/roles?name=Taken')).body['data'].length === 0) await aRole({ name: 'Taken' })
  expect(refusal(await call('POST', '/v1/roles', { name: 'Another', ...body }))).toEqual(expected)
})

test('circles are refused however they come about, also when two are closed at once', async () => {
  const [a, b] = [await aRole(), await aRole()]
  const answers = await Promise.all([
    call('PATCH', `/v1/roles/${a}`, { child_role_ids: [b] }),
    call('PATCH', `/v1/roles/${b}`, { child_role_ids: [a] }),
  ])
  expect(answers.map(answer => answer.status).sort()).toEqual([200, 400])
})

test('the built-in roles are nobody’s to change', async () => {
  expect((await call('PATCH', '/v1/roles/role_viewer', { name: 'X' })).status).toBe(404)
  expect((await call('DELETE', '/v1/roles/role_administrator')).status).toBe(404)
})

test('a role that somebody has is not deleted', async () => {
  const id = await aRole()
  const user = await aUserWith(id)
  expect(refusal(await call('DELETE', `/v1/roles/${id}`))).toEqual([409, 'COULD_NOT_DELETE_RESOURCE', undefined])
  const [membership] = (await call('GET', `/v1/users/${user}/memberships`)).body as unknown as { id: string }[]
  await call('PATCH', `/v1/users/${user}/memberships/${membership?.id}`, { role_ids: [] })
  expect((await call('DELETE', `/v1/roles/${id}`)).status).toBe(200)
})

test('a change of a role reaches whoever has it within seconds, through a child role too', async () => {
  const child = await aRole({ permissions: ['METER.VIEW'] })
  const user = await aUserWith(await aRole({ child_role_ids: [child] }))
  const asUser = api.as(user, api.tenants.aLive.tenant)
  await vi.waitFor(async () => expect((await asUser('GET', '/v1/meters')).status).toBe(200), 5_000)
  expect(refusal(await asUser('GET', '/v1/invoices'))).toEqual([403, 'USER_NOT_ALLOWED', undefined])
  await call('PATCH', `/v1/roles/${child}`, { permissions: ['INVOICE.VIEW'] })
  await vi.waitFor(async () => expect((await asUser('GET', '/v1/meters')).status).toBe(403), 5_000)
  expect((await asUser('GET', '/v1/invoices')).status).toBe(200)
})

test('nobody makes a role of more than they may, nor changes one that may more', async () => {
  const manager = await aUserWith(await aRole({ permissions: ['ROLE.*', 'CUSTOMER.*'] }))
  const { tenant } = api.tenants.aLive
  const make = (body: object, user = manager) =>
    api.acting(user, tenant, uow => createResource(uow, roleResource, { name: `Made ${Math.random()}`, ...body }))
  const change = (role: string, permissions: string[]) =>
    api.acting(manager, tenant, uow => updateResource(uow, roleResource, role, { permissions }))
  const refused = { code: 'USER_NOT_ALLOWED' }
  expect(await make({ permissions: ['CUSTOMER.UPDATE'] })).toMatchObject({ permissions: ['CUSTOMER.UPDATE'] })
  for (const body of [{ permissions: ['*'] }, { permissions: ['*.VIEW'] }, { child_role_ids: ['role_administrator'] }])
    await expect(make(body)).rejects.toMatchObject(refused)
  await expect(change(await aRole({ permissions: ['INVOICE.UPDATE'] }), ['CUSTOMER.VIEW'])).rejects.toMatchObject(
    refused,
  )
  const own = await aRole({ permissions: ['CUSTOMER.VIEW'] })
  expect(await change(own, ['CUSTOMER.*', '-CUSTOMER.DELETE'])).toMatchObject({ id: own })
  expect(await make({ permissions: ['*'] }, administrator)).toMatchObject({ permissions: ['*'] })
})
