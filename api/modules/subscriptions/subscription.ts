// Subscriptions: a customer on one or more plans in turn, billed by one entity on one cycle (semantics 4.1).
import { and, asc, eq, inArray } from 'drizzle-orm'
import Type from 'typebox'
import type { ReadUow, Uow } from '../../../shared/database/database.ts'
import { decimal, HUNDRED, ZERO } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import { formatInstant } from '../../../shared/time.ts'
import {
  defineResource,
  field,
  type Resource,
  type Row,
  readOnly,
  type StoredRow,
} from '../../resource/define-resource.ts'
import {
  Currency,
  DecimalText,
  Description,
  IdText,
  Name,
  OneOf,
  Period,
  Reference,
  Timestamp,
} from '../../resource/shapes.ts'
import { findMany, findOne, getOne, notFound } from '../../resource/store.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { pricingPlanResource } from '../catalog/pricing-plans/pricing-plan.ts'
import { pricingPlanVersionResource } from '../catalog/pricing-plans/pricing-plan-version.ts'
import { loadRateCards, type RateCardVersions, versionAt, versionsDuring } from '../catalog/pricing-plans/rate-card.ts'
import { billingEntityResource } from '../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { platformResource } from '../parties/platforms/platform.ts'
import { DueDateConfiguration, type SubscriptionSettings } from '../parties/platforms/subscription-settings.ts'
import { requireOfOwner, subscriptionGroupResource } from './groups/group.ts'
import { InactivePeriod, ScheduleInfo, SubscriptionStatus, SubscriptionTypes, SubscriptionVariant } from './schema.ts'
import { type Schedule, type Subscription, schedules, subscriptions } from './table.ts'

// What bills and whom is frozen once it bills; what only describes stays open (semantics 4.1).
const TERM = { change: 'draft' } as const

const GROUP = 'pricing_plan_subscription_group_id'

/** Parties by their references. */
type GivenParties = { readonly customer_reference?: string | null; readonly billing_entity_reference?: string | null }

export const subscriptionResource = defineResource<Subscription, GivenParties>({
  objectType: 'PRICING_PLAN_SUBSCRIPTION',
  shapeName: 'PricingPlanSubscription',
  idPrefix: 'ppsu',
  path: 'pricing-plan-subscriptions',
  table: subscriptions,
  fields: {
    reference: field(Reference, TERM),
    status: field(SubscriptionStatus),
    name: field(Name),
    description: field(Description),
    purchase_order_number: field(Type.String({ maxLength: 255 })),
    customer_id: field(IdText('customer'), TERM),
    billing_entity_id: field(IdText('billing entity'), TERM),
    billing_period: field(Period, TERM),
    billing_currency: field(Currency, TERM),
    billing_time: field(OneOf('EXACT', 'CALENDAR'), TERM),
    billing_anchor: field(Timestamp, TERM),
    due_date_configuration: field(DueDateConfiguration),
    type: field(SubscriptionTypes, { change: 'never' }),
    variant: field(SubscriptionVariant, { change: 'never' }),
    // Parties may move into the US while it runs; invoices that are not FINAL follow it.
    sales_tax_percentage: field(DecimalText),
    init_invoice_on_hold: field(Type.Boolean()),
    replicate_meter_data_ingest_to_parent: field(Type.Boolean(), TERM),
    // It only shows, so it may change at any time; invoices that are not FINAL follow it.
    display_invoice_sub_lines_per_processing_only_customer: field(Type.Boolean()),
    initial_term: field(Period, TERM),
    renewal_term: field(Period),
    auto_renewal: field(Type.Boolean()),
    pricing_plan_subscription_group_id: field(IdText('subscription group')),
    activated_at: readOnly(Timestamp),
    inactive_periods: readOnly(Type.Array(InactivePeriod)),
  },
  given: {
    customer_reference: field(Reference, { change: 'never' }),
    billing_entity_reference: field(Reference, { change: 'never' }),
  },
  // Its PATCH, DELETE and cancel also act on its schedules: they are in routes.ts.
  operations: ['create', 'list', 'search', 'get', 'archive'],
  byReference: true,
  customFields: true,
  // Of those that are ACTIVE a TEMPLATE alone may be ARCHIVED: `checkArchiving`.
  statuses: { ACTIVE: ['DRAFT'], ARCHIVED: ['DRAFT', 'ACTIVE', 'CANCELLED', 'VOID'] },
  filters: {
    customer_id: { kind: 'equals', column: 'customer_id' },
    status: { kind: 'equals', column: 'status', schema: SubscriptionStatus },
    type: { kind: 'equals', column: 'type', schema: SubscriptionTypes },
    variant: { kind: 'equals', column: 'variant', schema: SubscriptionVariant },
    pricing_plan_subscription_group_id: { kind: 'equals', column: 'pricing_plan_subscription_group_id' },
    created_at: { kind: 'range', column: 'created_at' },
    start_at: { kind: 'range', column: 'start_at' },
  },
  orderBy: ['reference', 'name', 'activated_at', 'start_at'],
  searchable: ['reference', 'name', 'purchase_order_number', 'customer_id', 'billing_entity_id', 'status'],
  expand: {
    customer: { by: 'customer_id', to: () => customerResource },
    billing_entity: { by: 'billing_entity_id', to: () => billingEntityResource },
    pricing_plan_subscription_group: { by: GROUP, to: () => subscriptionGroupResource },
    pricing_plan: { by: 'pricing_plan_id', to: () => pricingPlanResource, within: 'pricing_plan_schedule_infos' },
    pricing_plan_version: {
      by: 'pricing_plan_version_id',
      to: () => pricingPlanVersionResource,
      within: 'pricing_plan_schedule_infos',
    },
  },
  references: {
    customer_id: () => customerResource,
    billing_entity_id: () => billingEntityResource,
    [GROUP]: () => subscriptionGroupResource,
  },
  computed: { pricing_plan_schedule_infos: Type.Array(ScheduleInfo) },
  compute: computeViews,
  defaults: async (uow, row: Subscription & GivenParties) => {
    const platform = await getOne(uow, platformResource, uow.tenant.platformId)
    const { billing_entity_id: ofSubscriptions, ...settings } = platform.default_pricing_plan_subscription_settings
    const entityId = ofSubscriptions ?? platform.default_billing_entity_id
    return {
      ...(row.billing_entity_reference || entityId === null ? {} : { billing_entity_id: entityId }),
      ...(platform.default_pricing_currency === null ? {} : { billing_currency: platform.default_pricing_currency }),
      billing_period: { type: 'MONTH', value: 1 },
      billing_time: 'CALENDAR',
      due_date_configuration: { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: 30 } },
      type: 'BILLING',
      variant: 'DEFAULT',
      init_invoice_on_hold: false,
      replicate_meter_data_ingest_to_parent: false,
      display_invoice_sub_lines_per_processing_only_customer: false,
      auto_renewal: true,
      inactive_periods: [],
      ...withoutNulls(settings),
    }
  },
  resolve: resolveParties,
  check: checkSubscription,
  fixture: {
    create: async seed => ({
      reference: seed.unique('subscription'),
      name: seed.unique('Inference'),
      customer_id: (await seed.make(customerResource)).id,
      billing_entity_id: (await seed.make(billingEntityResource)).id,
      billing_currency: 'EUR',
    }),
    update: { purchase_order_number: 'PO-2026-17' },
  },
})

const withoutNulls = (settings: SubscriptionSettings): Partial<Subscription> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))

/** Fills customer_id and billing_entity_id from references. An id given beside a reference must name the same one. */
async function resolveParties(uow: Uow, row: Subscription & GivenParties): Promise<Subscription> {
  const { customer_reference, billing_entity_reference, ...rest } = row
  return {
    ...rest,
    customer_id: await named(uow, customerResource, 'customer', row.customer_id, customer_reference),
    // A missing one is refused by `checkSubscription`.
    billing_entity_id: (await named(
      uow,
      billingEntityResource,
      'billing_entity',
      row.billing_entity_id,
      billing_entity_reference,
    )) as string,
  }
}

async function named<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  party: string,
  id: R['id'] | null,
  reference: string | null | undefined,
): Promise<R['id'] | null> {
  if (!reference) return id
  const found = await findOne(uow, resource, reference)
  if (!found) throw notFound(resource, reference, `${party}_reference`)
  if (id && found.id !== id) {
    throw new AppError('INVALID_FIELD', `${party}_id and ${party}_reference name different ones; send one of them.`, {
      field: `${party}_reference`,
    })
  }
  return found.id
}

async function checkSubscription(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  checkType(row)
  for (const name of ['billing_entity_id', 'billing_currency'] as const) {
    if (!row[name]) throw new AppError('MISSING_FIELD', `${name} is required.`, { field: name })
  }
  checkTerms(row)
  if (row.variant !== 'DEFAULT') throw notOffered('variant', row.variant, 'DEFAULT')
  if (previous === null && row.status !== 'DRAFT') {
    const message = 'A subscription is created DRAFT. Give it a schedule, then PATCH its status to ACTIVE.'
    throw new AppError('INVALID_FIELD', message, { field: 'status' })
  }
  if (row.status === 'ARCHIVED' && previous !== null) checkArchiving(previous)
  const { type, period } = row.due_date_configuration
  if (type === 'PERIOD_AFTER_INVOICE_DATE' && !period) {
    const field = 'due_date_configuration.period'
    throw new AppError('MISSING_FIELD', 'PERIOD_AFTER_INVOICE_DATE needs a period.', { field })
  }
  if (row.billing_anchor !== null && row.billing_time !== 'EXACT') {
    const message =
      'Only an EXACT subscription has a billing day of its own; CALENDAR periods start with the calendar. Set billing_time to EXACT, or leave billing_anchor out.'
    throw new AppError('INVALID_FIELD', message, { field: 'billing_anchor' })
  }
  checkPercentage(row.sales_tax_percentage)
  if (row.customer_id !== null && row.customer_id !== previous?.customer_id)
    await refuseArchived(uow, customerResource, 'customer_id', row.customer_id)
  if (row[GROUP] !== null && (row[GROUP] !== previous?.[GROUP] || row.customer_id !== previous.customer_id)) {
    const group = await getOne(uow, subscriptionGroupResource, row[GROUP])
    await requireOfOwner(uow, group, { customerId: row.customer_id, field: GROUP })
  }
  if (row.billing_entity_id !== previous?.billing_entity_id) {
    await refuseArchived(uow, billingEntityResource, 'billing_entity_id', row.billing_entity_id)
  }
}

/** A TEMPLATE is for any customer, and every other subscription is for one. */
function checkType(row: Subscription): void {
  const isTemplate = row.type === 'TEMPLATE'
  if (isTemplate && row.customer_id !== null) {
    const message = 'A TEMPLATE has no customer; name it when you create a subscription from the template.'
    throw new AppError('INVALID_FIELD', message, { field: 'customer_id' })
  }
  if (!isTemplate && row.customer_id === null)
    throw new AppError('MISSING_FIELD', 'customer_id is required.', { field: 'customer_id' })
}

function checkTerms(row: Subscription): void {
  if (row.renewal_term === null || row.initial_term !== null) return
  const message = 'A renewal_term follows an initial_term; give that too.'
  throw new AppError('MISSING_FIELD', message, { field: 'initial_term' })
}

/** An archived subscription is billed no more, so what it still owes would never be asked for. */
function checkArchiving(previous: Subscription): void {
  if (previous.status === 'ACTIVE' && previous.type !== 'TEMPLATE') {
    const message = 'A PRICING_PLAN_SUBSCRIPTION that is ACTIVE cannot become ARCHIVED; cancel it first.'
    throw new AppError('INVALID_OPERATION', message, { field: 'status' })
  }
  if (previous.next_billing_at === null) return
  const message = 'Its last invoice is not FINAL yet; archive it after that.'
  throw new AppError('INVALID_OPERATION', message, { field: 'status' })
}

const notOffered = (field: string, value: string, offered: string): AppError =>
  new AppError('INVALID_FIELD', `${field} ${value} is not offered yet; use ${offered}.`, { field })

function checkPercentage(text: string | null): void {
  if (text === null) return
  const percentage = decimal(text)
  if (percentage.gte(ZERO) && percentage.lte(HUNDRED)) return
  throw new AppError('INVALID_FIELD', 'sales_tax_percentage is from 0 to 100; "21" is 21 %.', {
    field: 'sales_tax_percentage',
  })
}

async function refuseArchived(
  uow: Uow,
  resource: Resource<StoredRow & { readonly status: string }>,
  field: string,
  id: string,
): Promise<void> {
  const party = await getOne(uow, resource, id)
  if (party.status !== 'ARCHIVED') return
  throw new AppError('INVALID_FIELD', `This ${resource.objectType} is ARCHIVED and takes no new subscription.`, {
    field,
  })
}

/** The references of both parties, and the schedules that are active; drafts are not shown here (contract). */
async function computeViews(uow: ReadUow, rows: readonly Subscription[]): Promise<readonly Row[]> {
  if (rows.length === 0) return []
  const customers = await referencesOf(
    uow,
    customerResource,
    rows.flatMap(row => row.customer_id ?? []),
  )
  const entities = await referencesOf(
    uow,
    billingEntityResource,
    rows.map(row => row.billing_entity_id),
  )
  const ids = rows.map(row => row.id)
  const now = formatInstant(uow.now)
  const active = await uow.tx
    .select()
    .from(schedules)
    .where(
      and(
        inThisTenant(uow, schedules),
        inArray(schedules.pricing_plan_subscription_id, ids),
        eq(schedules.status, 'ACTIVE'),
      ),
    )
    .orderBy(asc(schedules.start_at))
  const cards = await loadRateCards(
    uow,
    active.map(schedule => schedule.pricing_plan_id),
  )
  return rows.map(row => ({
    customer_reference: (row.customer_id !== null && customers.get(row.customer_id)) || null,
    billing_entity_reference: entities.get(row.billing_entity_id) ?? null,
    pricing_plan_schedule_infos: active
      .filter(schedule => schedule.pricing_plan_subscription_id === row.id)
      .map(({ id, pricing_plan_id, pricing_plan_version_id, start_at, end_at }) => ({
        id,
        pricing_plan_id,
        pricing_plan_version_id: versionNow(
          { pricing_plan_version_id, start_at, end_at },
          cards.get(pricing_plan_id),
          now,
        ),
        start_at,
        end_at,
      })),
  }))
}

/** Of a rate card: the version in force now, or at the nearest moment of the schedule (contract: expandable on rate card plans). */
function versionNow(
  schedule: Pick<Schedule, 'pricing_plan_version_id' | 'start_at' | 'end_at'>,
  card: RateCardVersions | undefined,
  now: string,
): string {
  const sold = card ? versionsDuring(card, schedule) : []
  return (versionAt(sold, now) ?? sold[0])?.pricing_plan_version_id ?? schedule.pricing_plan_version_id
}

async function referencesOf(
  uow: ReadUow,
  resource: Resource<StoredRow & { readonly reference: string | null }>,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  return new Map((await findMany(uow, resource, ids)).map(row => [row.id, row.reference]))
}
