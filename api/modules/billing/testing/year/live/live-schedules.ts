// Customers and schedules of a simulated year, made through the api.
import { formatInstant, instantOf } from '../../../../../../shared/time.ts'
import { succeed } from '../../../../../testing/calls.ts'
import type { TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { enabledFrom, knownAt, knownWith, type Phase } from '../known.ts'
import type { Action, Story } from '../story.ts'
import { categoryOf } from '../story-discounts.ts'
import { enabledOf, termsOf } from '../story-terms.ts'
import { type Catalog, idIn, makeCoupon } from './live-catalog.ts'

/** A story that is sold to a customer. */
export type Sale = { readonly tenant: TestTenant; readonly story: Story; readonly catalog: Catalog }

export const text = (moment: number): string => formatInstant(instantOf(moment))
export const SUBSCRIPTIONS = '/v1/pricing-plan-subscriptions'
export const SCHEDULES = '/v1/pricing-plan-schedules'
const ADDRESS = { country: 'NL', city: 'Utrecht' }
export const newCustomer = (tenant: TestTenant, timezone = 'UTC'): Promise<Row> =>
  succeed(tenant, 'POST', '/v1/customers', {
    reference: tenant.seed.unique('acme'),
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    timezone,
    organization: { legal_name: 'Acme', tax_id: 'NL1', registered_address: ADDRESS },
  })

/** The id of a billing entity. */
export async function newEntity(tenant: TestTenant): Promise<string> {
  const { id } = await succeed(tenant, 'POST', '/v1/billing-entities', {
    reference: tenant.seed.unique('main'),
    legal_name: 'Millrace',
    registered_address: ADDRESS,
  })
  return id
}

const pricingIn =
  (catalog: Catalog) =>
  (plan: string, addon: boolean): string =>
    idIn(catalog, `pricing ${plan}${addon ? ' addon' : ''}`)

/** What is enabled, once this has happened, of the schedule that is in force then, and its name; null where its plan has no ADDON. */
export function enabledAfter({ story, catalog }: Sale, action: Action) {
  const progress = { moment: action.at, count: story.actions.indexOf(action) + 1 }
  const phase = knownWith(story, progress).phases.find(
    ({ start, end }) => start <= progress.moment && (end === null || progress.moment < end),
  )
  if (!phase?.plan.prices.some(({ addon }) => addon)) return null
  return { phase: phase.id, enabled_pricings: enabledOf(phase, { pricing: pricingIn(catalog) }) }
}

/** What the schedule at a place in their order says of its prices. */
export async function termsAt({ tenant, story, catalog }: Sale, place: number): Promise<object> {
  const found: Phase | undefined = knownAt(story, Number.POSITIVE_INFINITY).phases[place]
  if (!found) throw new Error(`there is no schedule ${place}`)
  // What is enabled later is not known yet.
  const phase = { ...found, enabled: enabledFrom(found.deal, found.start) }
  const coupon_ids: string[] = []
  for (const coupon of phase.deal.coupons) coupon_ids.push(await makeCoupon(tenant, catalog, coupon))
  const terms = termsOf(phase, {
    pricing: pricingIn(catalog),
    item: price => idIn(catalog, `item ${price}`),
    config: price => idIn(catalog, `config ${price}`),
    productItem: price => idIn(catalog, `product ${price}`),
    product: price => idIn(catalog, `whole product ${price}`),
    category: price => idIn(catalog, `category ${categoryOf(price)}`),
  })
  return coupon_ids.length === 0 ? terms : { ...terms, coupon_ids }
}

/** A schedule that follows the one before; gives its id. */
export async function addSchedule(
  of: Sale,
  given: {
    readonly subscription: string
    readonly place: number
    readonly plan: number
    readonly start: number
    readonly more?: object
    readonly query?: string
  },
): Promise<string> {
  const { subscription, place, plan, start, more, query = '' } = given
  const { id } = await succeed(of.tenant, 'POST', `${SCHEDULES}${query}`, {
    pricing_plan_subscription_id: subscription,
    pricing_plan_version_id: of.catalog.sold[plan]?.version,
    start_at: text(start),
    pricing_currency: 'EUR',
    ...more,
    ...(await termsAt(of, place)),
  })
  return id
}
