// Either layer holds alone: the conditions of the queries without row-level security, and row-level security without them.
// With both gone the probe must find the hole, or it proves nothing.
import { afterEach, expect, test, vi } from 'vitest'
import { type ApiHarness, startApi } from './testing/harness.ts'
import { PROBE_MS, probeTenants } from './testing/probe-tenants.ts'

const switches = vi.hoisted(() => ({ conditions: true }))
vi.mock('./resource/tenant-condition.ts', async original => {
  const real = await original<typeof import('./resource/tenant-condition.ts')>()
  const { sql } = await import('drizzle-orm')
  return {
    inThisTenant: (...inputs: Parameters<typeof real.inThisTenant>) =>
      switches.conditions ? real.inThisTenant(...inputs) : sql`true`,
  }
})

let api: ApiHarness
afterEach(() => api?.close())

async function withoutRowSecurity(): Promise<void> {
  const tables = await api.sql(
    `select relname from pg_class where relrowsecurity and relnamespace = 'public'::regnamespace`,
  )
  for (const { relname } of tables as { relname: string }[])
    await api.sql(`alter table "${relname}" disable row level security`)
}

test(
  'the conditions hold without row-level security',
  async () => {
    switches.conditions = true
    api = await startApi()
    await withoutRowSecurity()
    expect(await probeTenants(api, api.routes)).toEqual([])
  },
  PROBE_MS,
)

test(
  'row-level security holds without the conditions',
  async () => {
    switches.conditions = false
    api = await startApi()
    expect(await probeTenants(api, api.routes)).toEqual([])
  },
  PROBE_MS,
)

test(
  'with neither, the probe finds the hole',
  async () => {
    switches.conditions = false
    api = await startApi()
    await withoutRowSecurity()
    expect((await probeTenants(api, api.routes)).length).toBeGreaterThan(10)
  },
  PROBE_MS,
)
