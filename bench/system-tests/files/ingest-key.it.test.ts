// The key a worker makes for itself: it sends events of one tenant, does nothing else, and ends.
import type { Dispatcher } from 'undici'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callerWith } from '../../../api/testing/harness.ts'
import { createIngestKey, revokeIngestKeys } from '../../../shared/access/ingest-key.ts'
import { inTenant, SERVICE } from '../../../shared/database/database.ts'
import { type FilesRig, type MeterParts, openFilesRig } from './rig.ts'

vi.setConfig({ testTimeout: 180_000 })

let rig: FilesRig
let meter: MeterParts
beforeAll(async () => {
  rig = await openFilesRig()
  meter = await rig.meter()
})
afterAll(() => rig?.close())

const create = (purpose: string) =>
  inTenant(rig.api.database, rig.tenant.tenant, SERVICE, uow => createIngestKey(uow, purpose))
const send = async (key: string): Promise<number> => {
  const reference = rig.tenant.seed.unique('k')
  const value = [{ reference: `${meter.reference}.tokens`, number: '1' }]
  const response = await fetch(`${rig.gatewayUrl}/v1/events/ingest`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ reference, customer_reference: 'acme', meter_id: meter.id, meter_values: value }),
  })
  return response.status
}

test('it sends events and is refused by every other call', async () => {
  const key = await create('test')
  expect(await send(key.text)).toBe(201)
  const call = callerWith(rig.api.app, { 'x-api-key': key.text })
  expect(rig.api.routes.length).toBeGreaterThan(50)
  const allowed: string[] = []
  for (const { method, url } of rig.api.routes) {
    const body = method === 'GET' || method === 'DELETE' ? undefined : {}
    const { status } = await call(method, url.replace(/:\w+/g, 'any'), body)
    // A body that is no valid one is refused before anybody asks who sent it.
    if (status !== 403 && status !== 400 && status !== 415) allowed.push(`${method} ${url}: ${status}`)
  }
  expect(allowed).toEqual([])
  const customer = await call('POST', '/v1/customers', { type: 'INDIVIDUAL' })
  expect([customer.status, customer.body['code']]).toEqual([403, 'USER_NOT_ALLOWED'])
})

test('it ends when it is revoked, and by itself', async () => {
  const [revoked, old, kept] = [await create('one'), await create('two'), await create('three')]
  for (const key of [revoked, old, kept]) expect(await send(key.text)).toBe(201)
  await inTenant(rig.api.database, rig.tenant.tenant, SERVICE, uow => revokeIngestKeys(uow, 'one'))
  await rig.api.sql(
    "update api_keys set expires_at = now() - interval '1 second', updated_at = clock_timestamp() where id = $1",
    [old.id],
  )
  await expect.poll(() => send(revoked.text), { timeout: 60_000 }).toBe(401)
  await expect.poll(() => send(old.text), { timeout: 60_000 }).toBe(401)
  expect(await send(kept.text)).toBe(201)
})

test('the key of a file is nowhere in clear, and is nothing once the file is done', async () => {
  const used = new Set<string>()
  const gateway = rig.deps.files.gateway
  const watched = {
    request: (options: Dispatcher.RequestOptions) => {
      used.add((options.headers as Record<string, string>)['x-api-key'] ?? '')
      return gateway.request(options)
    },
  } as Dispatcher
  const jobs = await rig.startJobs({ gateway: watched })
  const lines = Array.from({ length: 120 }, (_, at) => `${rig.tenant.seed.unique('k')},acme,,,${at},,`)
  const { id } = await rig.upload(`${meter.header}${lines.join('\n')}`, { meter_data: { meter_id: meter.id } })
  expect((await rig.finished(id))['lines'].done).toBe(120)
  await jobs.close()
  expect(used.size).toBe(1)
  const [key = ''] = used
  await expect.poll(() => send(key), { timeout: 60_000 }).toBe(401)
  const rows = await rig.api.sql('select revoked_at, to_jsonb(k)::text as row from api_keys k where description = $1', [
    `file ${id}`,
  ])
  expect(rows).toHaveLength(1)
  expect(rows[0]?.['revoked_at']).not.toBe(null)
  expect(rows[0]?.['row']).not.toContain(key.slice(30))
})
