// Subscriptions: a customer on one or more plans in turn, billed by one entity on one cycle (semantics 4.1).
import Type from 'typebox'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { idOf } from '../../../shared/ids.ts'
import { defineResource, field, type Resource, readOnly, type StoredRow } from '../../resource/define-resource.ts'
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
import { findOne, getOne, notFound } from '../../resource/store.ts'
import { pricingPlanResource } from '../catalog/pricing-plans/pricing-plan.ts'
import { pricingPlanVersionResource } from '../catalog/pricing-plans/pricing-plan-version.ts'
import { billingEntityResource } from '../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { paymentAcceptorResource } from '../parties/payment-acceptors/payment-acceptor.ts'
import { platformResource } from '../parties/platforms/platform.ts'
import {
  ACCEPTORS_MAX,
  DueDateConfiguration,
  type SubscriptionSettings,
} from '../parties/platforms/subscription-settings.ts'
import { acceptorsByDefault, checkAcceptors } from './checks/check-acceptors.ts'
import { checkSubscription, requireThere, statusAdvice } from './checks/check-subscription.ts'
import { checkUpgrade } from './ending/upgrade-subscription.ts'
import { subscriptionGroupResource } from './groups/group.ts'
import {
  InactivePeriod,
  NextInvoice,
  ScheduleInfo,
  SellerDetails,
  SubscriptionStatus,
  SubscriptionTypes,
  SubscriptionVariant,
  TemplateSettings,
} from './schema.ts'
import { SERVICE_DEFAULTS } from './service-defaults.ts'
import { type Subscription, subscriptions } from './table.ts'
import { checkVariant, entityOfSeller } from './variants.ts'
import { computeViews } from './views/view-subscriptions.ts'

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
    forward_customer_id: field(IdText('customer'), TERM),
    seller_details: field(SellerDetails, TERM),
    // Parties may move into the US while it runs; invoices that are not FINAL follow it.
    sales_tax_percentage: field(DecimalText),
    init_invoice_on_hold: field(Type.Boolean()),
    // It may change at any time; invoices that are not FINAL follow it.
    combine: field(Type.Boolean()),
    replicate_meter_data_ingest_to_parent: field(Type.Boolean(), TERM),
    // It only shows, so it may change at any time; invoices that are not FINAL follow it.
    display_invoice_sub_lines_per_processing_only_customer: field(Type.Boolean()),
    initial_term: field(Period, TERM),
    renewal_term: field(Period),
    auto_renewal: field(Type.Boolean()),
    pricing_plan_subscription_group_id: field(IdText('subscription group')),
    upgraded_from_pricing_plan_subscription_id: field(IdText('subscription'), TERM),
    upgraded_to_pricing_plan_subscription_id: readOnly(Type.String()),
    payment_acceptor_ids: field(Type.Array(IdText('payment acceptor'), { maxItems: ACCEPTORS_MAX, uniqueItems: true })),
    template: field(TemplateSettings),
    activated_at: readOnly(Timestamp),
    inactive_periods: readOnly(Type.Array(InactivePeriod)),
  },
  given: {
    customer_reference: field(Reference, TERM),
    billing_entity_reference: field(Reference, TERM),
  },
  // Its PATCH, DELETE and cancel also act on its schedules: they are in routes.ts.
  operations: ['create', 'list', 'search', 'get', 'archive'],
  byReference: true,
  testClockOf: 'customer_id',
  customFields: true,
  // Of those that are ACTIVE a TEMPLATE alone may be ARCHIVED: `checkArchiving`.
  statuses: { ACTIVE: ['DRAFT'], ARCHIVED: ['DRAFT', 'ACTIVE', 'CANCELLED', 'VOID'] },
  statusAdvice,
  filters: {
    customer_id: { kind: 'equals', column: 'customer_id' },
    status: { kind: 'equals', column: 'status', schema: SubscriptionStatus },
    'statuses[]': { kind: 'oneOf', column: 'status', schema: SubscriptionStatus },
    type: { kind: 'equals', column: 'type', schema: SubscriptionTypes },
    variant: { kind: 'equals', column: 'variant', schema: SubscriptionVariant },
    pricing_plan_subscription_group_id: { kind: 'equals', column: 'pricing_plan_subscription_group_id' },
    start_at: { kind: 'range', column: 'start_at' },
  },
  orderBy: ['reference', 'name', 'activated_at', 'start_at'],
  searchable: ['reference', 'name', 'purchase_order_number', 'customer_id', 'billing_entity_id', 'status'],
  expand: {
    customer: { by: 'customer_id', to: () => customerResource },
    forward_customer: { by: 'forward_customer_id', to: () => customerResource },
    billing_entity: { by: 'billing_entity_id', to: () => billingEntityResource },
    payment_acceptors: { by: 'payment_acceptor_ids', to: () => paymentAcceptorResource },
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
    forward_customer_id: () => customerResource,
    billing_entity_id: () => billingEntityResource,
    payment_acceptor_ids: () => paymentAcceptorResource,
    [GROUP]: () => subscriptionGroupResource,
  },
  computed: {
    pricing_plan_schedule_infos: Type.Array(ScheduleInfo),
    pending_review_pricing_plan_schedule_ids: Type.Array(Type.String()),
    next_invoice: NextInvoice,
  },
  compute: computeViews,
  defaults: async (uow, row: Subscription & GivenParties) => {
    const platform = await getOne(uow, platformResource, uow.tenant.platformId)
    const {
      billing_entity_id: ofSubscriptions,
      payment_acceptor_ids: acceptorIds,
      ...settings
    } = platform.default_pricing_plan_subscription_settings
    const entityId = (await entityOfSeller(uow, row)) ?? ofSubscriptions ?? platform.default_billing_entity_id
    return {
      ...(row.billing_entity_reference || entityId === null ? {} : { billing_entity_id: idOf('bill', entityId) }),
      ...(platform.default_pricing_currency === null ? {} : { billing_currency: platform.default_pricing_currency }),
      ...SERVICE_DEFAULTS,
      billing_time: 'CALENDAR',
      type: 'BILLING',
      variant: 'DEFAULT',
      init_invoice_on_hold: false,
      combine: false,
      replicate_meter_data_ingest_to_parent: false,
      display_invoice_sub_lines_per_processing_only_customer: false,
      auto_renewal: true,
      inactive_periods: [],
      payment_acceptor_ids: await acceptorsByDefault(uow, acceptorIds ?? [], {
        ...row,
        billing_entity_id: row.billing_entity_id ?? (row.billing_entity_reference ? null : entityId),
      }),
      ...withoutNulls(settings),
    }
  },
  resolve: resolveParties,
  check: async (uow, row, previous) => {
    await checkVariant(uow, row, previous)
    await checkSubscription(uow, row, previous)
    await checkUpgrade(uow, row, previous)
    await checkAcceptors(uow, row, previous)
  },
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

/**
 * Fills customer_id and billing_entity_id from references. An id and a reference in one request must name the same party, unless one of
 * them is unchanged: then the other one decides.
 */
async function resolveParties(
  uow: Uow,
  row: Subscription & GivenParties,
  previous: Subscription | null,
): Promise<Subscription> {
  const { customer_reference, billing_entity_reference, ...rest } = row
  const customer = { id: row.customer_id, before: previous?.customer_id, reference: customer_reference }
  const entity = { id: row.billing_entity_id, before: previous?.billing_entity_id, reference: billing_entity_reference }
  return {
    ...rest,
    customer_id: await named(uow, customerResource, 'customer', customer),
    // A missing one is refused by `checkSubscription`.
    billing_entity_id: idOf('bill', (await named(uow, billingEntityResource, 'billing_entity', entity)) as string),
  }
}

type Party = StoredRow & { readonly status: string }
type GivenParty<R extends Party> = {
  readonly id: R['id'] | null
  readonly before: R['id'] | null | undefined
  readonly reference: string | null | undefined
}

async function named<R extends Party>(
  uow: Uow,
  resource: Resource<R>,
  party: string,
  { id, before, reference }: GivenParty<R>,
): Promise<R['id'] | null> {
  if (!reference) return id
  const found = await findOne(uow, resource, reference)
  if (!found) throw notFound(resource, reference, `${party}_reference`)
  if (found.id !== before) requireThere(resource, found, `${party}_reference`)
  if (!id || id === before) return found.id
  if (found.id === id || found.id === before) return id
  throw new AppError('INVALID_FIELD', `${party}_id and ${party}_reference name different ones; send one of them.`, {
    field: `${party}_reference`,
  })
}
