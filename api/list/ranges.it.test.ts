// Every list of resources can be limited to a range of created_at or updated_at, so that a client with a copy reads only what is new.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RESOURCES } from '../modules/modules.ts'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import { callsOf, PROBE_MS } from '../testing/probe-tenants.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api?.close())

test(
  'every list takes a range of created_at and of updated_at',
  async () => {
    const tenant = api.tenants.aLive
    await callsOf(api, api.routes, tenant) // makes one of each
    const LISTS = [
      ...RESOURCES.filter(({ operations }) => operations.includes('list')).map(({ path }) => path),
      'invoices',
      'pricing-plan-version-migrations',
      'pricing-plan-version-simulations',
    ]
    expect(LISTS.length).toBeGreaterThan(30)
    const count = async (path: string, query: string): Promise<number | string> => {
      const { status, body } = await tenant.call('GET', `/v1/${path}?${query}`)
      return status === 200 && Array.isArray(body['data']) ? body['data'].length : `${status} ${body['message']}`
    }
    const wrong: string[] = []
    for (const path of LISTS) {
      const all = await count(path, 'order_by=created_at')
      for (const time of ['created_at', 'updated_at']) {
        const found = [
          await count(path, `${time}=[2020-01-01T00:00:00Z,]`),
          await count(path, `${time}=[,2020-01-01T00:00:00Z]`),
        ]
        if (JSON.stringify(found) !== JSON.stringify([all, 0]))
          wrong.push(`${path} ${time}: ${found.join(', ')} of ${all}`)
      }
    }
    expect(wrong).toEqual([])
  },
  PROBE_MS,
)
