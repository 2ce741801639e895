// Grants by the rules of prices, through the api and the billing run (contract: Wallet rules 3 to 5; semantics 6): granted once
// when the charge falls due, and reverted when it is gone.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eur } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import type { Row } from '../../../testing/wire.ts'
import { succeed } from '../../billing/testing/billed-subscription.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { grantingPlans, LUMP, quantity, SEATS } from '../testing/granting-plans.ts'

let api: ApiHarness
let tenant: TestTenant
let plans: Awaited<ReturnType<typeof grantingPlans>>
beforeAll(async () => {
  api = await startApi({ usage: NO_USAGE })
  tenant = api.tenants.aTest
  plans = await grantingPlans(api, tenant)
})
afterAll(() => api?.close())

describe('a charge', () => {
  test('of a RECURRING item grants at the start of every period, once, until its expiry, to a wallet made for it', async () => {
    const rules = [
      plans.fixed('100', { expiry_policy: { expiry_period: { type: 'DAY', value: 10 } } }),
      plans.rule({ wallet_type_id: plans.money['id'], amount_grant: { percentage: '50' } }),
      plans.fixed('1'),
    ]
    const subscription = await plans.subscribed([
      { model: 'RECURRING', config: { ...LUMP, billing_in_advance: true, wallet_grants: rules } },
    ])
    await Promise.all([plans.run(subscription), plans.run(subscription), plans.run(subscription)])
    await plans.run(subscription)
    expect((await plans.shown(subscription)).toSorted()).toEqual([
      '1 2026-03-01 - live',
      '100 2026-03-01 2026-03-11 live',
      '15 2026-03-01 - live',
    ])
    const [grant] = (await plans.grantsOf(subscription)).filter(each => quantity(each) === '100')
    expect(grant).toMatchObject({
      source: 'CHARGE',
      type: 'DEFAULT',
      paid_amount: eur('30'),
      customer_id: subscription.customerId,
    })
    const { data: wallets } = await succeed(tenant, 'GET', `/v1/wallets?customer_id=${subscription.customerId}`)
    expect(wallets.map((wallet: Row) => wallet['status'])).toEqual(['ACTIVE', 'ACTIVE'])
    await plans.billedAt('2026-03-20T00:00:00Z', subscription)
    expect(await plans.grantsOf(subscription)).toHaveLength(3)
    await plans.billedAt('2026-04-01T00:10:00Z', subscription)
    expect((await plans.shown(subscription)).filter(text => text.startsWith('100'))).toEqual([
      '100 2026-03-01 2026-03-11 live',
      '100 2026-03-31 2026-04-10 live',
    ])
    // Reverted by a call, it is not granted again.
    await plans.post(`wallet-grants/${grant?.['id']}/revert`, undefined)
    await plans.run(subscription)
    expect((await plans.shown(subscription)).filter(text => text.startsWith('100'))).toEqual([
      '100 2026-03-01 2026-03-11 WALLET_GRANT_REVERTED',
      '100 2026-03-31 2026-04-10 live',
    ])
  })

  test('of a ONE_OFF item priced FLAT grants for each unit; a conversion gives credits for what is paid', async () => {
    const conversion = { conversion: { credit_type_id: plans.of.creditType['id'], rate: '10' } }
    const subscription = await plans.subscribed([
      { model: 'ONE_OFF', config: { ...SEATS, default_units: { number: '3' }, wallet_grants: [plans.fixed('50')] } },
      { model: 'ONE_OFF', config: { ...LUMP, wallet_grants: [plans.rule({ credits_grant: conversion })] } },
      { model: 'RECURRING', config: { ...LUMP, wallet_grants: [plans.rule({ credits_grant: { conversion: '2' } })] } },
    ])
    await plans.run(subscription)
    await plans.run(subscription)
    expect((await plans.grantsOf(subscription)).map(quantity).toSorted()).toEqual(['150', '300', '60'])
  })

  test('grants into a new wallet when the one before it is ARCHIVED', async () => {
    const config = { ...LUMP, billing_in_advance: true, wallet_grants: [plans.fixed('100')] }
    const subscription = await plans.subscribed([{ model: 'RECURRING', config }])
    await plans.run(subscription)
    const walletsNow = async () =>
      (await succeed(tenant, 'GET', `/v1/wallets?customer_id=${subscription.customerId}`))['data'] as Row[]
    const [first] = await walletsNow()
    await plans.post(`wallets/${first?.['id']}/archive`, undefined)
    await plans.billedAt('2026-04-01T00:10:00Z', subscription)
    expect((await walletsNow()).map(wallet => wallet['status']).toSorted()).toEqual(['ACTIVE', 'ARCHIVED'])
  })

  test('that is gone takes its grant back: with its invoice, its subscription, or its time', async () => {
    const selling = [{ model: 'RECURRING', config: { ...LUMP, wallet_grants: [plans.fixed('100')] } }]
    const voided = await plans.subscribed(selling)
    await plans.run(voided)
    const [invoice] = (await plans.invoicesOf(voided)).filter(each => each['status'] === 'OPEN')
    await plans.post(`invoices/${invoice?.['id']}/void`, undefined)
    await plans.run(voided)
    expect(await plans.shown(voided)).toEqual(['100 2026-03-01 - INVOICE_VOIDED'])

    const gone = await plans.subscribed(selling)
    await plans.run(gone)
    await plans.post(`pricing-plan-subscriptions/${gone.id}/void`, undefined)
    expect(await plans.shown(gone)).toEqual(['100 2026-03-01 - SUBSCRIPTION_VOIDED'])
  })
})

test('expand[] shows the wallet type of a rule, in a pricing and in its version', async () => {
  const { pricing } = await plans.sold([
    { model: 'RECURRING', config: { ...LUMP, wallet_grants: [plans.fixed('100')] } },
  ])
  const { body: made } = await pricing()
  const get = (url: string) => succeed(tenant, 'GET', `/v1/${url}`)
  const ruleOf = (of: Row) => of['items'][0].configs[0].wallet_grants[0]
  const at = `pricings/${made['id']}`
  expect(ruleOf(await get(at))).not.toHaveProperty('wallet_type')
  const whole = await get(`wallet-types/${plans.credits['id']}`)
  for (const name of ['wallet_type', 'wallet_type_id', 'ALL'])
    expect(ruleOf(await get(`${at}?expand[]=${name}`)).wallet_type, name).toEqual(whole)
  const version = await get(`pricing-plan-versions/${made['pricing_plan_version_id']}?expand[]=wallet_type`)
  expect(ruleOf(version['pricing_categories'][0].pricings[0]).wallet_type).toEqual(whole)
  // Sent back as it was shown, it changes nothing.
  const { items } = await get(`${at}?expand[]=wallet_type`)
  expect((await succeed(tenant, 'PATCH', `/v1/${at}`, { items }))['items']).toEqual(made['items'])
})
