// Every call on subscriptions, schedules, seats and customers that the contract and semantics 4 refuse, with its code and its field. What
// a plan, a price or a coupon may not be is tested beside those.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import type { TestTenant } from '../../../testing/harness.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { paymentAcceptorResource } from '../../parties/payment-acceptors/payment-acceptor.ts'
import { seatAssignmentResource } from '../seats/seat-assignment.ts'
import { APRIL, JUNE, MAY, NOW, REFUSED } from '../testing/refused-calls.ts'
import { REFUSED_TERMS } from '../testing/refused-terms.ts'
import {
  makeActiveSubscription,
  makeSchedule,
  makeSubscription,
  makeVersion,
  succeed,
} from '../testing/seed-subscription.ts'
import { soldPrices } from '../testing/sold-prices.ts'
import { startAt } from '../testing/start-at.ts'

let tenant: TestTenant
let stop: () => Promise<void>
/** Ids of what the calls are about, by the names that paths and bodies use. */
const ids: Record<string, string> = {}

beforeAll(async () => {
  ;({ tenant, stop } = await startAt(NOW))
  const subscription = (id = '') => succeed(tenant, 'GET', `/v1/pricing-plan-subscriptions/${id}`)
  const made = async (path: string, body: object = {}): Promise<string> =>
    (await succeed(tenant, 'POST', `/v1/${path}`, body))['id']
  const scheduleOf = async (id: string): Promise<string> =>
    (await succeed(tenant, 'GET', `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${id}`))['data'][0].id

  ids.draft = await makeSubscription(tenant)
  ids.live = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  ids.liveSchedule = await scheduleOf(ids.live)
  const { customer_id, billing_entity_id } = await subscription(ids.live)
  ids.customer = customer_id
  ids.entity = billing_entity_id
  ids.planned = await makeSubscription(tenant)
  ids.first = await makeSchedule(tenant, ids.planned, '2026-03-01T00:00:00Z', { end_at: MAY })
  ids.second = await makeSchedule(tenant, ids.planned, MAY, { end_at: JUNE })
  ids.third = await makeSchedule(tenant, ids.planned, JUNE)
  ids.ended = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${ids.ended}/cancel`, { type: 'NOW' })
  ids.leaving = await makeActiveSubscription(tenant, '2026-03-01T00:00:00Z')
  await succeed(tenant, 'POST', `/v1/pricing-plan-subscriptions/${ids.leaving}/cancel`, {
    type: 'DATE',
    cancel_at: APRIL,
  })
  const sold = { billing_entity_id: ids.entity, billing_currency: 'EUR' }
  ids.template = await made('pricing-plan-subscriptions', { ...sold, type: 'TEMPLATE' })
  ids.templateSchedule = await makeSchedule(tenant, ids.template, '2026-01-01T00:00:00Z')
  ids.draftTemplate = await made('pricing-plan-subscriptions', { ...sold, type: 'TEMPLATE' })
  await succeed(tenant, 'PATCH', `/v1/pricing-plan-subscriptions/${ids.template}`, { status: 'ACTIVE' })
  ids.quote = await made('pricing-plan-subscriptions', { ...sold, type: 'QUOTE', customer_id })
  ids.version = await makeVersion(tenant)
  ids.plan = (await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${ids.version}`))['pricing_plan_id']
  const seat = await tenant.seed.make(seatAssignmentResource)
  ids.seat = seat.id
  ids.seatItem = seat['product_item_id']
  ids.seated = seat['pricing_plan_subscription_id']
  ids.occupant = seat['customer_id']
  ids.payer = (await subscription(ids.seated))['customer_id']
  ids.archived = await made('customers', { type: 'INDIVIDUAL', status: 'ACTIVE' })
  await succeed(tenant, 'POST', `/v1/customers/${ids.archived}/archive`)
  ids.supplier = await made('customers', { type: 'INDIVIDUAL', status: 'ACTIVE', roles: ['SELF_BILLING'] })
  ids.child = await made('customers', { type: 'INDIVIDUAL', status: 'ACTIVE', roles: ['PROCESSING_ONLY'] })
  ids.other = (await tenant.seed.make(customerResource))['id']
  ids.acceptor = (await tenant.seed.make(paymentAcceptorResource)).id
  const card = await made('pricing-plans', { reference: 'card', variant: 'RATE_CARD' })
  ids.cardVersion = await made('pricing-plan-versions', {
    pricing_plan_id: card,
    rate_card: { start_at: '2026-01-01T00:00:00Z' },
  })
  ids.group = await made('pricing-plan-subscription-groups', { reference: 'owned', owner_customer_id: ids.other })
  ids.item = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${ids.version}`).then(
    ({ pricing_categories }) => pricing_categories[0].pricings[0].items[0].product_item_ids[0],
  )
  ids.config = await succeed(tenant, 'GET', `/v1/pricing-plan-versions/${ids.version}`).then(
    ({ pricing_categories }) => pricing_categories[0].pricings[0].items[0].configs[0].id,
  )
  Object.assign(ids, await soldPrices(tenant, ids.entity ?? ''))
  ids.archivedEntity = await made('billing-entities', {
    reference: 'gone',
    legal_name: 'Gone',
    registered_address: { country: 'NL' },
  })
  await succeed(tenant, 'PATCH', `/v1/billing-entities/${ids.archivedEntity}`, { status: 'ARCHIVED' })
  ids.unknown = 'none_0000000000000000000000'
})
afterAll(() => stop())

/** A text with `{name}` for the id of that name. */
const named = (text: string): string => text.replace(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? `no ${name}`)

const STATUS: Readonly<Record<string, number>> = {
  RESOURCE_NOT_FOUND: 404,
  COULD_NOT_DELETE_RESOURCE: 409,
  COULD_NOT_UPDATE_RESOURCE: 409,
}

test.each(
  [...REFUSED, ...REFUSED_TERMS].map(row => {
    const [call, body, code, field = ''] = row
    return [`${call} ${body === null ? '' : JSON.stringify(body)} is refused: ${code} ${field}`, row] as const
  }),
)('%s', async (_title, [call, body, code, field]) => {
  const [method = '', url = ''] = named(call).split(' ')
  const answer = await tenant.call(method, url, body === null ? undefined : JSON.parse(named(JSON.stringify(body))))
  expect([...refusal(answer), answer.body['message']]).toEqual([STATUS[code] ?? 400, code, field, expect.any(String)])
})

test.each([
  ['DELETE /v1/pricing-plan-schedules/{liveSchedule}', {}, 'set its end_at, or have another schedule follow it'],
  ['DELETE /v1/customers/{archived}', {}, 'Only a DRAFT can be deleted, and this one is ARCHIVED.'],
  ['DELETE /v1/customers/{customer}', {}, 'archive it instead'],
  ['PATCH /v1/pricing-plan-subscriptions/{live}', { status: 'CANCELLED' }, '/pricing-plan-subscriptions/{id}/cancel'],
  ['PATCH /v1/pricing-plan-subscriptions/{live}', { status: 'VOID' }, '/pricing-plan-subscriptions/{id}/void'],
  ['PATCH /v1/pricing-plan-subscriptions/{live}', { status: 'DRAFT' }, 'cannot become DRAFT. Cancel it first'],
  ['POST /v1/pricing-plan-subscriptions/{live}/archive', {}, 'cannot become ARCHIVED now. Cancel it first'],
  ['DELETE /v1/pricing-plan-subscriptions/{live}', {}, 'this one is ACTIVE. Cancel it first'],
  [
    'PATCH /v1/pricing-plan-subscriptions/{ended}',
    { status: 'ACTIVE' },
    'cannot become ACTIVE. What is over stays so: copy it',
  ],
  ['DELETE /v1/customers/{payer}', {}, 'archive it instead'],
  ['PATCH /v1/pricing-plan-schedules/{first}', { end_at: APRIL }, 'end there, or send set_next_start_at=true'],
])('%s %j is refused with a way that works, or none', async (call, body, advice) => {
  const [method = '', url = ''] = named(call).split(' ')
  expect((await tenant.call(method, url, body)).body['message']).toContain(advice)
})
