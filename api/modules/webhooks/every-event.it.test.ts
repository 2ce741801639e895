// Every event type is fired by a test, and its payload has the shape that the API description gives.
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { notifyPasswordChange } from '../../../identity/password/notify.ts'
import { type FactorChange, notifyFactorChange } from '../../../identity/second-factor/notify.ts'
import type { EventType } from '../../../shared/contracts/event-types.ts'
import { asSystem, type Database, type SystemTransaction } from '../../../shared/database/database.ts'
import { silentLogger } from '../../../shared/process/logger.ts'
import { openTestDatabase } from '../../../shared/testing/database-logins.ts'
import { formatInstant } from '../../../shared/time.ts'
import type { Resource } from '../../resource/define-resource.ts'
import { expectPayloadsOfPlatform } from '../../testing/event-payloads.ts'
import type { TestTenant } from '../../testing/harness.ts'
import { PROBE_MS, visitRoutes } from '../../testing/probe-tenants.ts'
import { startApiWithUsers, type UserHarness } from '../../testing/user-harness.ts'
import type { Row } from '../../testing/wire.ts'
import { billedSubscription, succeed } from '../billing/testing/billed-subscription.ts'
import { seedInvoice } from '../billing/testing/seed-invoice.ts'
import { EVENT_TYPES, RESOURCES } from '../modules.ts'

let api: UserHarness
beforeAll(async () => {
  api = await startApiWithUsers()
})
afterAll(async () => {
  await identity?.close()
  await api?.close()
})

/** The types that other tests fire, with more than the API and its database, and check: those named by their calls of `expectPayloads`. */
const ELSEWHERE: ReadonlySet<string> = new Set(
  ['api', 'identity', 'bench/system-tests']
    .flatMap(part => readdirSync(part, { recursive: true, encoding: 'utf8' }).map(name => `${part}/${name}`))
    .filter(name => name.endsWith('.it.test.ts'))
    .flatMap(name => [...readFileSync(name, 'utf8').matchAll(/await expectPayloads\(.*\[([^\]]*)\]\)/g)])
    .flatMap(([, types = '']) => [...types.matchAll(/'([A-Z_.]+)'/g)].map(([, type = '']) => type)),
)

type Fire = (tenant: TestTenant) => Promise<unknown>
const resourceOf = (objectType: string): Resource => {
  const resource = RESOURCES.find(each => each.objectType === objectType)
  if (!resource) throw new Error(`no resource is ${objectType}`)
  return resource
}
/** A resource of this type; a DRAFT where it has a status, because only a DRAFT can be deleted. */
async function made(objectType: string, tenant: TestTenant): Promise<Row> {
  const resource = resourceOf(objectType)
  const body = await resource.fixture.create(tenant.seed)
  return await succeed(tenant, 'POST', `/v1/${resource.path}`, {
    ...(body as object),
    ...(resource.statuses ? { status: 'DRAFT' } : {}),
  })
}
const pathOf = (objectType: string): string => resourceOf(objectType).path
const deleted =
  (objectType: string): Fire =>
  async tenant =>
    await succeed(tenant, 'DELETE', `/v1/${pathOf(objectType)}/${(await made(objectType, tenant))['id']}`)
const updated =
  (objectType: string, body: object): Fire =>
  async tenant =>
    await succeed(tenant, 'PATCH', `/v1/${pathOf(objectType)}/${(await made(objectType, tenant))['id']}`, body)
const changesInvoice =
  (...bodies: object[]): Fire =>
  async tenant => {
    const { id } = await seedInvoice(api, tenant)
    for (const body of bodies) await succeed(tenant, 'PATCH', `/v1/invoices/${id}`, body)
  }
const changesFactor =
  (change: FactorChange): Fire =>
  async ({ tenant }) =>
    await inIdentity(async tx =>
      notifyFactorChange(tx, { userId: await api.administrator(tenant), change, requestId: 'reqr_test' }),
    )

/** Fires the types that calling every route with its fixture does not. */
const FIRE: Readonly<Partial<Record<EventType, Fire>>> = {
  'INVOICE.PAID': changesInvoice({ status: 'FINAL' }, { payment_status: 'PAID', paid: true }),
  'INVOICE.STATUS_TO_FINAL': changesInvoice({ status: 'FINAL' }),
  'METER_PROPERTY_VARIABLE.UPDATED': async tenant => {
    const { id } = await made('METER_PROPERTY_VARIABLE', tenant)
    await succeed(tenant, 'PATCH', `/v1/meter-property-variables/${id}/values`, { add: ['large'] })
  },
  'PRICING_PLAN_SUBSCRIPTION.CANCELLED': async tenant => {
    const { subscriptionId } = await billedSubscription(tenant, {
      start_at: formatInstant(api.clock.now()),
      fee: '1',
    })
    await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${subscriptionId}/cancel`, { type: 'NOW' })
  },
  // It is deleted with a DRAFT subscription; no call deletes it alone.
  'PRICING_PLAN_SUBSCRIPTION_GROUP.UPDATED': async tenant => {
    const { id } = await made('PRICING_PLAN_SUBSCRIPTION_GROUP', tenant)
    await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscription-groups/${id}`, { name: 'Renamed' })
  },
  'SEAT_ASSIGNMENT.DELETED': async tenant => {
    const { pricing_plan_subscription_id } = await made('SEAT_ASSIGNMENT', tenant)
    await succeed(tenant, 'DELETE', `/v1/pricing-plan-subscriptions/${pricing_plan_subscription_id}`)
  },
  'TEAM.UPDATED': async tenant => {
    const team = await tenant.call('POST', '/v1/teams', { name: 'Sales' })
    await succeed(tenant, 'PATCH', `/v1/teams/${team.body['id']}`, { name: 'Renamed' })
  },
  'USER.AUTHENTICATOR_ADDED': changesFactor('AUTHENTICATOR_ADDED'),
  'USER.AUTHENTICATOR_REMOVED': changesFactor('AUTHENTICATOR_REMOVED'),
  'USER.PASSKEY_ADDED': changesFactor('PASSKEY_ADDED'),
  'USER.PASSKEY_REMOVED': changesFactor('PASSKEY_REMOVED'),
  'USER.RECOVERY_CODES_REPLACED': changesFactor('RECOVERY_CODES_REPLACED'),
  'USER.PASSWORD_CHANGED': async ({ tenant }) =>
    await inIdentity(async tx =>
      notifyPasswordChange(tx, {
        userId: await api.administrator(tenant),
        requestId: 'reqr_test',
        appsEnded: false,
      }),
    ),
  'USER.UPDATED': async tenant =>
    await succeed(tenant, 'PATCH', `/v1/users/${await api.administrator(tenant.tenant)}`, { active: false }),
  'WEBHOOK_REPLAY.CANCELLED': async tenant => {
    const path = `/v1/webhooks/${(await made('WEBHOOK', tenant))['id']}`
    const { id } = await succeed(tenant, 'POST', `${path}/replay`, { from: formatInstant(api.clock.now()) })
    await succeed(tenant, 'POST', `${path}/replays/${id}/cancel`)
  },
  'WEBHOOK.UPDATED': updated('WEBHOOK', { name: 'Renamed' }),
}

let identity: Database
beforeAll(async () => {
  identity = await openTestDatabase({
    url: api.databaseUrl,
    role: 'millrace_identity',
    clock: api.clock,
    logger: silentLogger,
    poolMax: 2,
  })
})
const inIdentity = (work: (tx: SystemTransaction) => Promise<void>) => asSystem(identity, 'test', work)

test(
  'every event type is fired, and its payload has its shape',
  async () => {
    const { aLive } = api.tenants
    await visitRoutes(api, aLive)
    const { platformId } = aLive.tenant
    const seen = await api.sql('select distinct type from outbox where platform_id = $1', [platformId])
    const deletions = EVENT_TYPES.filter(type => type.endsWith('.DELETED') && !ELSEWHERE.has(type) && !(type in FIRE))
      .filter(type => !seen.some(row => row['type'] === type))
      .map(type => [type, deleted(type.slice(0, type.indexOf('.')))] as const)
    const faults: string[] = []
    for (const [type, fire] of [...deletions, ...Object.entries(FIRE)])
      await fire(aLive).catch((error: unknown) => faults.push(`${type}: ${error}`))
    expect(faults).toEqual([])
    const fired = await expectPayloadsOfPlatform(api, platformId)
    expect(EVENT_TYPES.filter(type => !fired.has(type) && !ELSEWHERE.has(type))).toEqual([])
  },
  PROBE_MS,
)
