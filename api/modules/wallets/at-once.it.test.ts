// What changes a wallet, its type or its customer beside what grants to it: whichever comes first, the grant is in what the wallet holds,
// in a wallet that can be spent, and a customer has one wallet of a type.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../shared/database/database.ts'
import { changeStatus, updateResource } from '../../resource/commands.ts'
import { eur } from '../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../testing/harness.ts'
import type { Row } from '../../testing/wire.ts'
import { runBilling } from '../billing/run/run-billing.ts'
import { succeed } from '../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../billing/testing/no-usage.ts'
import { untilItWaits } from '../subscriptions/testing/until-it-waits.ts'
import { createGrant } from './grants/create-grant.ts'
import { grantingPlans, LUMP, SEATS, type Subscribed } from './testing/granting-plans.ts'
import { subscribedTo } from './testing/sold-plans.ts'
import { MONEY } from './testing/wallets-of.ts'
import { walletResource } from './wallet.ts'
import { walletTypeResource } from './wallet-type.ts'

let api: ApiHarness
let tenant: TestTenant
let plans: Awaited<ReturnType<typeof grantingPlans>>
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aLive
  plans = await grantingPlans(api, tenant)
})
afterAll(() => api.close())

const IN_DOLLARS = { credit: { grant_type: 'AMOUNT', amount_grant: { default_currency: 'USD' } } }
const granting = () =>
  plans.subscribed([
    { model: 'RECURRING', config: { ...LUMP, billing_in_advance: true, wallet_grants: [plans.fixed('100')] } },
  ])
const run = (id: string) => runBilling({ database: api.database, usage: NO_USAGE }, tenant.tenant, id)
const walletsOf = async ({ customerId }: Subscribed): Promise<Row[]> =>
  (await succeed(tenant, 'GET', `/v1/wallets?customer_id=${customerId}`))['data']

test('the currency of a wallet type is not changed while the first grant in the old one is being saved', async () => {
  const wallet = await plans.of.wallet(MONEY)
  const { id: wallet_id, customer_id, wallet_type_id } = wallet
  const body = { customer_id, billing_entity_id: plans.of.billingEntity['id'], wallet_id, grant_amount: eur('10') }
  const sent = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
    await createGrant(uow, body)
    return await untilItWaits(api, () => tenant.call('PATCH', `/v1/wallet-types/${wallet_type_id}`, IN_DOLLARS))
  })
  expect(await sent.answer).toMatchObject({ status: 400, body: { code: 'INVALID_FIELD', field: 'credit' } })
})

test('a grant that comes while the currency is being changed is judged by the new one', async () => {
  const wallet = await plans.of.wallet(MONEY)
  const sent = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
    await updateResource(uow, walletTypeResource, wallet['wallet_type_id'], IN_DOLLARS)
    return await untilItWaits(api, () => {
      const { id: wallet_id, customer_id } = wallet
      const body = { customer_id, billing_entity_id: plans.of.billingEntity['id'], wallet_id, grant_amount: eur('10') }
      return tenant.call('POST', '/v1/wallet-grants', body)
    })
  })
  expect(await sent.answer).toMatchObject({ status: 400, body: { field: 'grant_amount.currency' } })
})

test('two subscriptions of a customer that are billed at once grant to one wallet, which is made for both', async () => {
  const one = await granting()
  const { pricing_plan_version_id: versionId } = await succeed(
    tenant,
    'GET',
    `/v1/pricing-plan-schedules/${one.scheduleId}`,
  )
  const { customerId } = one
  const found = { customerId, billingEntityId: plans.of.billingEntity['id'], versionId, start: '2026-03-01T00:00:00Z' }
  const two = await subscribedTo(tenant, found)
  await Promise.all([run(one.id), run(two.id)])
  expect(await walletsOf(one)).toHaveLength(1)
  expect((await plans.grantsOf(one)).map(grant => grant['grant_credits'].quantity)).toEqual(['100', '100'])
})

test('billing beside POST /v1/wallets of the same type grants to the wallet that is there', async () => {
  const one = await granting()
  const body = {
    reference: tenant.seed.unique('own'),
    wallet_type_id: plans.credits['id'],
    customer_id: one.customerId,
    status: 'ACTIVE',
  }
  const [, answer] = await Promise.all([run(one.id), tenant.call('POST', '/v1/wallets', body)])
  expect([201, 409]).toContain(answer.status)
  expect(await walletsOf(one)).toHaveLength(1)
  expect(await plans.grantsOf(one)).toHaveLength(1)
})

test('a charge does not grant to a wallet that is being archived, but to a new one', async () => {
  const one = await granting()
  const made = await succeed(tenant, 'POST', '/v1/wallets', {
    reference: tenant.seed.unique('own'),
    wallet_type_id: plans.credits['id'],
    customer_id: one.customerId,
    status: 'ACTIVE',
  })
  const billed = await inTenant(api.database, tenant.tenant, SERVICE, async uow => {
    await changeStatus(uow, walletResource, made['id'], 'ARCHIVED')
    return await untilItWaits(api, async () => {
      await run(one.id)
      return { status: 200, headers: {}, body: {} }
    })
  })
  await billed.answer
  const [grant, ...others] = await plans.grantsOf(one)
  expect(others).toEqual([])
  expect(grant?.['wallet_id']).not.toBe(made['id'])
  expect(await succeed(tenant, 'GET', `/v1/wallets/${grant?.['wallet_id']}`)).toMatchObject({ status: 'ACTIVE' })
})

test('of two pricings added to a version at once that grant to one wallet type, one of them for each seat, one is refused', async () => {
  for (let round = 0; round < 3; round += 1) {
    const perSeat = plans.fixed('100', { source: 'PER_SEAT' })
    const { pricing } = await plans.sold([
      { model: 'PER_SEAT', config: { ...SEATS, wallet_grants: [perSeat] } },
      { model: 'RECURRING', config: { ...LUMP, wallet_grants: [plans.fixed('1')] } },
    ])
    const answers = await Promise.all([pricing(0, 1), pricing(1, 2)])
    const [made, refused] = answers.toSorted((a, b) => a.status - b.status)
    expect([made?.status, refused?.status]).toEqual([201, 400])
    expect(refused?.body['field']).toBe('items.0.configs.0.wallet_grants.0.wallet_type_id')
  }
})
