// A subscription whose fee grants credits in every period, for tests that kill what bills it.
import type pg from 'pg'
import { type Client, listAll } from '../../../infra/demo/client.ts'

const MONTHS = 3
const active = { status: 'ACTIVE' }

/** A DRAFT subscription since the month before the last, to be made ACTIVE: 30.00 a month in advance, which grants 100 credits. */
export async function createGranting(client: Client, name: string): Promise<{ readonly id: string }> {
  const { id: credit_type_id } = await client.post('/v1/credit-types', {
    reference: name,
    name,
    ...active,
    unit_name: { singular: 'credit', plural: 'credits' },
  })
  const { id: wallet_type_id } = await client.post('/v1/wallet-types', {
    reference: name,
    name,
    ...active,
    type: 'CREDIT',
    credit: { grant_type: 'CREDITS', credits_grant: { credit_type_id } },
  })
  const { id: product_id } = await client.post('/v1/products', { reference: name, name, ...active })
  const item = { reference: name, name, ...active, product_id, model_type: 'RECURRING' }
  const { id: item_id } = await client.post('/v1/product-items', item)
  const { id: pricing_plan_id } = await client.post('/v1/pricing-plans', { reference: name, name })
  const { id: pricing_plan_version_id } = await client.post('/v1/pricing-plan-versions', { pricing_plan_id })
  const config = {
    pricing_type: 'FIXED',
    billing_in_advance: true,
    bands: [{ fixed_amount: { quantity: '30', currency: 'EUR' } }],
    wallet_grants: [{ wallet_type_id, credits_grant: { credits: { quantity: '100', credit_type_id } } }],
  }
  const items = [{ product_item_ids: [item_id], configs: [config] }]
  await client.post('/v1/pricings', { pricing_plan_version_id, name, product_ids: [product_id], items })
  await client.patch(`/v1/pricing-plan-versions/${pricing_plan_version_id}`, active)
  const { id: customer_id } = await client.post('/v1/customers', { reference: name, type: 'ORGANIZATION', ...active })
  // The seller of the trace, so that its invoices are of one series of numbers with the others.
  const { id: billing_entity_id } = (await client.find('/v1/billing-entities/trace-entity')) ?? {}
  const subscription = { reference: name, customer_id, billing_entity_id, billing_currency: 'EUR' }
  const { id } = await client.post('/v1/pricing-plan-subscriptions', subscription)
  const start = new Date()
  start.setUTCMonth(start.getUTCMonth() - (MONTHS - 1), 1)
  await client.post('/v1/pricing-plan-schedules', {
    pricing_plan_subscription_id: id,
    pricing_plan_version_id,
    start_at: `${start.toISOString().slice(0, 10)}T00:00:00Z`,
  })
  return { id: String(id) }
}

/**
 * What its wallet was granted: the start of each grant and its quantity, and whether the ledger adds up: each grant with one entry
 * GRANTED, the accounts those of the entries, their sum zero.
 */
export async function grantedTo(
  client: Client,
  owner: pg.Client,
  name: string,
): Promise<{ readonly starts: string[]; readonly addsUp: boolean }> {
  const { id } = (await client.find(`/v1/customers/${name}`)) ?? {}
  const grants = await listAll(client, `/v1/wallet-grants?customer_id=${id}&limit=100`)
  const { rows } = await owner.query(
    `select bool_and(a.funding + a.open + a.reserved + a.spent + a.expired + a.reverted = 0 and a.open = e.open and e.granted = 1) as adds_up
     from wallet_grant_accounts a, lateral (
       select count(*) filter (where type = 'GRANTED') as granted,
         sum(case 'OPEN' when credit_account then quantity when debit_account then -quantity else 0 end) as open
       from wallet_entries where grant_id = a.grant_id) as e
     where a.grant_id = any($1)`,
    [grants.map(grant => grant.id)],
  )
  return { starts: grants.map(grant => String(grant['start_at'])).toSorted(), addsUp: rows[0].adds_up }
}
