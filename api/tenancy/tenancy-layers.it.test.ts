// Either layer holds alone: the conditions of the queries without row-level security, and row-level security without them.
// With both gone the probe must find the hole, or it proves nothing.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ApiHarness, startApi } from '../testing/harness.ts'
import { openProbe, PROBE_MS, type TenantProbe } from '../testing/probe-tenants.ts'
import type { Row } from '../testing/wire.ts'
import { switches } from './testing/switched-conditions.ts'

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
