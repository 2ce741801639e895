// Either layer holds alone: the conditions of the queries without row-level security, and row-level security without them.
// With both gone the probe must find the hole, or it proves nothing.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import { openProbe, PROBE_MS, type TenantProbe } from '../testing/probe-tenants.ts'
import type { Row } from '../testing/wire.ts'

const switches = vi.hoisted(() => ({ conditions: true }))
vi.mock('../resource/tenant-condition.ts', async original => {
  const real = await original<typeof import('../resource/tenant-condition.ts')>()
  const { sql } = await import('drizzle-orm')
  return {
    inThisTenant: (...inputs: Parameters<typeof real.inThisTenant>) =>
      switches.conditions ? real.inThisTenant(...inputs) : sql`true`,
    // A prepared question stays as it is, so the switch is one of its values.
    inPlaceholders: (...inputs: Parameters<typeof real.inPlaceholders>) => {
      const isOff = { mapToDriverValue: () => !switches.conditions }
      return sql`(${real.inPlaceholders(...inputs)} or ${sql.param(sql.placeholder('platform'), isOff)}::boolean)`
    },
  }
})

let api: ApiHarness
let probe: TenantProbe
beforeAll(async () => {
  api = await startApi()
  probe = await openProbe(api)
}, PROBE_MS)
afterAll(() => api?.close())
beforeEach(async () => {
  switches.conditions = true
  await setRowSecurity('enable')
})

async function setRowSecurity(how: 'enable' | 'disable'): Promise<void> {
  tables ??= await api.sql(
    `select relname from pg_class where relrowsecurity and relnamespace = 'public'::regnamespace`,
  )
  for (const { relname } of tables) await api.sql(`alter table "${relname}" ${how} row level security`)
}
let tables: Row[] | undefined

test(
  'the conditions hold without row-level security',
  async () => {
    await setRowSecurity('disable')
    expect(await probe.find()).toEqual([])
  },
  PROBE_MS,
)

test(
  'row-level security holds without the conditions',
  async () => {
    switches.conditions = false
    expect(await probe.find()).toEqual([])
  },
  PROBE_MS,
)

// Last, since what it finds it may also have changed.
test(
  'with neither, the probe finds the hole',
  async () => {
    switches.conditions = false
    await setRowSecurity('disable')
    expect((await probe.find()).length).toBeGreaterThan(10)
  },
  PROBE_MS,
)
