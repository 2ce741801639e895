// Seat assignments: which customer occupies a seat of a subscription, and for how long (contract: Seat assignment; semantics 4.4).
import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Id } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { defineResource, field, type Resource } from '../../../resource/define-resource.ts'
import { IdText, OneOf, Timestamp } from '../../../resource/shapes.ts'
import { findOne, getOne, lockExisting, lockOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { isOptionalIn } from '../../catalog/pricing-plans/checks/optional.ts'
import { pricingResource } from '../../catalog/pricing-plans/pricing.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import type { PricingItem } from '../../catalog/pricing-plans/schema.ts'
import { pricings } from '../../catalog/pricing-plans/table.ts'
import { allConfigs } from '../../catalog/pricing-plans/variants/variants.ts'
import { productItemResource, productResource } from '../../catalog/products/product.ts'
import { whyGone } from '../../parties/customers/customer-status.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { lockSubscription } from '../billing-time/next-billing.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import { schedules, scheduleVersions, subscriptions } from '../table.ts'
import { followsAssignments } from './seat-count.ts'
import { hasNoSeats, SEAT_STATUSES, seatStatus } from './seat-status.ts'
import { refuseSecond } from './second-seat.ts'
import { type SeatAssignment, seatAssignments } from './table.ts'

const refuse = (name: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field: name })
}

export const seatAssignmentResource: Resource<SeatAssignment> = defineResource<SeatAssignment>({
  objectType: 'SEAT_ASSIGNMENT',
  shapeName: 'SeatAssignment',
  idPrefix: 'seat',
  path: 'seat-assignments',
  table: seatAssignments,
  fields: {
    pricing_plan_subscription_id: field(IdText('subscription'), { create: 'required', change: 'never' }),
    product_item_id: field(IdText('product item'), { create: 'required', change: 'never' }),
    customer_id: field(IdText('customer'), { create: 'required', change: 'never' }),
    start_at: field(Timestamp, { change: 'never' }),
    end_at: field(Timestamp),
  },
  operations: ['create', 'list', 'get', 'update'],
  byReference: false,
  // A seat may be that of another customer, who is billed nothing for it.
  testClockOf: 'pricing_plan_subscription_id',
  filters: {
    pricing_plan_subscription_id: { kind: 'equals', column: 'pricing_plan_subscription_id' },
    product_item_id: { kind: 'equals', column: 'product_item_id' },
    customer_id: { kind: 'equals', column: 'customer_id' },
  },
  orderBy: ['start_at'],
  expand: {
    customer: { by: 'customer_id', to: () => customerResource },
    product_item: { by: 'product_item_id', to: () => productItemResource },
  },
  references: {
    pricing_plan_subscription_id: () => subscriptionResource,
    product_item_id: () => productItemResource,
    customer_id: () => customerResource,
  },
  computed: { status: OneOf(...SEAT_STATUSES) },
  compute: statusesOf,
  defaults: async (uow, row) => {
    if (!row.id) await lockInOrder(uow, row)
    return { start_at: formatInstant(uow.now) }
  },
  // As a deletion or an activation of the subscription does, which has it when it comes to its seats.
  lockFirst: async (uow, id) => {
    const seat = await findOne(uow, seatAssignmentResource, id)
    if (seat) await lockOne(uow, subscriptionResource, seat.pricing_plan_subscription_id, 'no key update')
  },
  check: async (uow, row, previous) => {
    await lockBilling(uow, row)
    requireEnd(row, previous)
    if (previous === null) await checkNew(uow, row)
    else if (seatStatus(previous, formatInstant(uow.now)) === 'ENDED')
      throw new AppError('INVALID_OPERATION', `The assignment has ENDED at ${previous.end_at}; create another.`, {
        field: 'end_at',
        resourceId: previous.id,
      })
    await refuseSecond(uow, row)
  },
  fixture: {
    create: async seed => {
      const item = await seed.make({
        ...productItemResource,
        fixture: {
          create: async own => ({
            product_id: (await own.make(productResource)).id,
            reference: own.unique('seats'),
            name: 'Seats',
            status: 'ACTIVE',
            model_type: 'PER_SEAT',
          }),
          update: {},
        },
      })
      const pricing = await seed.make({
        ...pricingResource,
        fixture: {
          create: async own => ({
            pricing_plan_version_id: (await own.make(pricingPlanVersionResource)).id,
            product_ids: [item.product_id],
            items: [
              {
                product_item_ids: [item.id],
                configs: [{ pricing_type: 'FLAT', bands: [{ amount: { quantity: '10', currency: 'EUR' } }] }],
              },
            ],
          }),
          update: {},
        },
      })
      const schedule = await seed.make({
        ...scheduleResource,
        fixture: {
          create: async own => ({
            pricing_plan_subscription_id: (await own.make(subscriptionResource)).id,
            pricing_plan_version_id: pricing.pricing_plan_version_id,
            start_at: '2026-01-01T00:00:00Z',
          }),
          update: {},
        },
      })
      return {
        pricing_plan_subscription_id: schedule.pricing_plan_subscription_id,
        product_item_id: item.id,
        customer_id: (await seed.make(customerResource)).id,
        start_at: '2026-01-01T00:00:00Z',
      }
    },
    update: { end_at: '2030-01-01T00:00:00Z' },
  },
})

/** With its subscription an assignment has ENDED. */
async function statusesOf(uow: ReadUow, rows: readonly SeatAssignment[]) {
  const now = formatInstant(uow.now)
  const { id, status, cancelled_at } = subscriptions
  const ids = [...new Set(rows.map(row => row.pricing_plan_subscription_id))]
  const found = await uow.tx
    .select({ id, status, cancelled_at })
    .from(subscriptions)
    .where(and(inThisTenant(uow, subscriptions), anyOf(id, ids)))
  const over = new Set(found.filter(each => hasNoSeats(each, now)).map(each => each.id))
  return rows.map(row => ({
    status: over.has(row.pricing_plan_subscription_id) ? ('ENDED' as const) : seatStatus(row, now),
  }))
}

/** Throws INVALID_FIELD for an end before the start. An assignment may end as it starts only once it is there: it is then taken back. */
function requireEnd({ start_at, end_at }: SeatAssignment, previous: SeatAssignment | null): void {
  if (end_at === null || end_at > start_at || (previous !== null && end_at === start_at)) return
  refuse(
    'end_at',
    previous === null
      ? 'end_at must be after start_at.'
      : `The assignment starts at ${start_at} and cannot end before. To take it back, send its start as end_at.`,
  )
}

/**
 * Holds what a new assignment names, in one order and before any of it is held against deletion alone: two calls that want the same wait
 * for each other and do not deadlock. What is missing is refused where references are checked.
 */
async function lockInOrder(uow: Uow, row: SeatAssignment): Promise<void> {
  await lockOne(uow, subscriptionResource, row.pricing_plan_subscription_id)
  await lockOne(uow, customerResource, row.customer_id)
  await lockOne(uow, productItemResource, row.product_item_id)
}

/** Holds the subscription: none of its invoices becomes FINAL meanwhile, and a DRAFT is not activated and billed. */
const lockBilling = async (uow: Uow, { pricing_plan_subscription_id: id }: SeatAssignment): Promise<void> =>
  void (await lockSubscription(uow, id))

/** The assignments of a subscription. */
export const listSeats = (uow: ReadUow, subscriptionId: Id<'ppsu'>): Promise<SeatAssignment[]> =>
  uow.tx
    .select()
    .from(seatAssignments)
    .where(and(inThisTenant(uow, seatAssignments), eq(seatAssignments.pricing_plan_subscription_id, subscriptionId)))

async function checkNew(uow: Uow, row: SeatAssignment): Promise<void> {
  // Held, so that neither the customer nor the item is archived meanwhile: their guards look for assignments.
  const customer = await lockExisting(uow, customerResource, row.customer_id)
  const gone = whyGone(customer)
  if (gone) refuse('customer_id', `The customer is ${gone} and takes no seat.`)
  const item = await lockExisting(uow, productItemResource, row.product_item_id)
  if (item.model_type !== 'PER_SEAT')
    refuse('product_item_id', `The product item is ${item.model_type}; only a PER_SEAT item has seats.`)
  if (item.status === 'ARCHIVED') refuse('product_item_id', 'The product item is ARCHIVED.')
  const { status, cancelled_at: ends } = await getOne(uow, subscriptionResource, row.pricing_plan_subscription_id)
  if (status !== 'DRAFT' && status !== 'ACTIVE')
    refuse('pricing_plan_subscription_id', `The subscription is ${status}; it has no seats any more.`)
  if (ends !== null && ends <= row.start_at)
    refuse(
      'start_at',
      `The subscription ends at ${ends}, before the seat would be occupied; have it start before that.`,
    )
  await requireSold(uow, row)
}

/** A seat is one of an item that some schedule of the subscription prices. */
async function requireSold(uow: Uow, row: SeatAssignment): Promise<void> {
  if ((await pricesOf(uow, row)).length > 0) return
  refuse('product_item_id', 'No schedule of the subscription prices this item; name one that it sells.')
}

/** Whether what a schedule of the subscription charges or grants for the item depends on its assignments. */
export const isCharged = async (uow: ReadUow, row: SeatAssignment): Promise<boolean> =>
  (await pricesOf(uow, row, ENABLED)).some(item => allConfigs(item).some(followsAssignments))

/** An ADDON, or a pricing in a group, charges nothing of a schedule that never enables it. */
const ENABLED = sql`(not ${isOptionalIn('pricings')}
  or ${schedules.enabled_pricings} @> jsonb_build_array(jsonb_build_object('pricing_id', ${pricings.id})))`

/** How the schedules of the subscription price the item. */
async function pricesOf(uow: ReadUow, row: SeatAssignment, condition?: SQL): Promise<PricingItem[]> {
  const sold = await uow.tx
    .select({ items: pricings.items })
    .from(pricings)
    .innerJoin(
      scheduleVersions,
      and(
        inThisTenant(uow, scheduleVersions),
        eq(scheduleVersions.pricing_plan_version_id, pricings.pricing_plan_version_id),
      ),
    )
    .innerJoin(
      schedules,
      and(inThisTenant(uow, schedules), eq(schedules.id, scheduleVersions.pricing_plan_schedule_id)),
    )
    .where(
      and(
        inThisTenant(uow, pricings),
        eq(schedules.pricing_plan_subscription_id, row.pricing_plan_subscription_id),
        condition,
      ),
    )
  return sold.flatMap(({ items }) => items.filter(item => item.product_item_ids.includes(row.product_item_id)))
}
