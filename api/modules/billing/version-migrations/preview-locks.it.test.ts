// The preview of a migration locks subscriptions for as long as it tries a few of them.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { idOf } from '../../../../shared/ids.ts'
import { silentLogger } from '../../../../shared/process/logger.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { lockSubscription } from '../../subscriptions/billing-time/next-billing.ts'
import { succeed } from '../testing/billed-subscription.ts'
import { NO_USAGE } from '../testing/no-usage.ts'
import { runMigration } from './run-migration.ts'
import { onOneVersion } from './testing/on-one-version.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
})
afterAll(() => api.close())

const preview = (id: string): Promise<void> =>
  runMigration(
    { database: api.database, usage: NO_USAGE, logger: silentLogger },
    { tenant: tenant.tenant, id, last: false },
  )
async function untilLocked(): Promise<void> {
  const waits = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
  while ((await api.sql(waits)).length === 0) await sleep(20)
}

test('a subscription can be changed while others of its group are previewed', async () => {
  api.clock.set(Date.parse('2026-03-10T00:00:00Z'))
  const { version, next, subscriptions } = await onOneVersion(tenant, 6)
  const made = await succeed(tenant, 'POST', `/v1/pricing-plan-versions/${version}/migrate`, {
    pricing_plan_version_id: next,
  })
  const [first = '', last = ''] = [subscriptions.toSorted()[0], subscriptions.toSorted().at(-1)]
  const previewing = inTenant(api.database, tenant.tenant, SERVICE, async uow => {
    // The preview comes to this one last, and waits for it. What only refers to it does not.
    await uow.tx.execute(sql`select from pricing_plan_subscriptions where id = ${last} for no key update`)
    const run = preview(made['id'])
    await untilLocked()
    const patched = await tenant.call('PATCH', `/v1/pricing-plan-subscriptions/${first}`, { description: 'patched' })
    return { run, patched }
  })
  const { run, patched } = await previewing
  await run
  expect(patched).toMatchObject({ status: 200, body: { description: 'patched' } })
  expect(await succeed(tenant, 'GET', `/v1/pricing-plan-version-migrations/${made['id']}`)).toMatchObject({
    status: 'PREVIEWED',
    result: { number_of_previewed: 6 },
  })
})

test('the preview holds no customer while it waits for a subscription that is being billed', async () => {
  api.clock.set(Date.parse('2026-03-10T00:00:00Z'))
  const { version, next, subscriptions } = await onOneVersion(tenant, 4)
  const made = await succeed(tenant, 'POST', `/v1/pricing-plan-versions/${version}/migrate`, {
    pricing_plan_version_id: next,
  })
  const last = subscriptions.toSorted().at(-1) ?? ''
  const { customer_id } = await succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${last}`)
  const { run } = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
    await lockSubscription(uow, idOf('ppsu', last))
    const run = preview(made['id'])
    await untilLocked()
    // As billing does next, which would wait for the preview, and the preview for it.
    await uow.tx.execute(sql`select from customers where id = ${customer_id} for share nowait`)
    return { run }
  })
  await run
  expect(await succeed(tenant, 'GET', `/v1/pricing-plan-version-migrations/${made['id']}`)).toMatchObject({
    status: 'PREVIEWED',
    result: { number_of_previewed: 4 },
  })
})
