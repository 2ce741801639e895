// Pricing plans: what a customer subscribes to. Their prices are in versions, of which the live ones never change.
import { and, asc, inArray } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { defineResource, field, type Row } from '../../../resource/define-resource.ts'
import { AgentContext, Description, IdText, LifecycleStatus, Name, OneOf, Reference } from '../../../resource/shapes.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { Currencies, PricingPlanVersionInfos } from './schema.ts'
import { admitting, checkSelectionRules, SelectionRules } from './selection/selection-rules.ts'
import { type PricingPlan, type PricingPlanVersion, pricingPlans, pricingPlanVersions } from './table.ts'
import { currenciesOfPlans } from './variants/plan-currencies.ts'

const Type = OneOf('STANDARD', 'CUSTOM')
const Variant = OneOf('DEFAULT', 'RATE_CARD')

export const pricingPlanResource = defineResource<PricingPlan>({
  objectType: 'PRICING_PLAN',
  shapeName: 'PricingPlan',
  idPrefix: 'pric',
  path: 'pricing-plans',
  table: pricingPlans,
  fields: {
    reference: field(Reference, { create: 'required' }),
    name: field(Name),
    description: field(Description),
    type: field(Type),
    // A foreign key checks it: the customers are above the catalog.
    customer_id: field(IdText('customer')),
    amount_type: field(OneOf('EXCLUDING_TAX', 'INCLUDING_TAX')),
    variant: field(Variant),
    pricing_plan_selection_rules: field(SelectionRules),
    agent_context: field(AgentContext),
  },
  operations: ['create', 'upsert', 'list', 'search', 'get', 'update', 'delete'],
  byReference: true,
  // The catalog has no time of a customer.
  testClockOf: null,
  customFields: true,
  filters: {
    type: { kind: 'equals', column: 'type', schema: Type },
    customer_id: { kind: 'equals', column: 'customer_id' },
    'statuses[]': {
      kind: 'related',
      schema: LifecycleStatus,
      condition: (uow, statuses) => inArray(pricingPlans.id, plansOfVersions(uow, statuses)),
    },
    'variants[]': { kind: 'oneOf', column: 'variant', schema: Variant },
  },
  names: { customer_id: 'CUSTOMER' },
  orderBy: ['name', 'reference'],
  searchable: ['name', 'reference', 'description'],
  selectionRules: { COUNTRY: admitting(pricingPlans.pricing_plan_selection_rules) },
  defaults: () => ({
    type: 'STANDARD',
    amount_type: 'EXCLUDING_TAX',
    variant: 'DEFAULT',
    pricing_plan_selection_rules: [],
  }),
  check: async (uow, row, previous) => {
    checkCustomer(row, previous)
    checkSelectionRules(row.pricing_plan_selection_rules)
    if (!previous || (row.amount_type === previous.amount_type && row.reference === previous.reference)) return
    const versions = await versionsOf(uow, [row.id])
    if (versions.every(version => version.status === 'DRAFT')) return
    if (row.reference !== previous.reference) {
      const message = 'Versions of this plan are live, and selectors of subscriptions go by its reference.'
      throw new AppError('INVALID_FIELD', message, { field: 'reference' })
    }
    throw new AppError(
      'INVALID_FIELD',
      'Versions of this plan are live, and their prices mean what amount_type says.',
      {
        field: 'amount_type',
      },
    )
  },
  computed: { pricing_plan_version_infos: PricingPlanVersionInfos, pricing_currencies: Currencies },
  compute: async (uow, rows) => {
    const versions = await versionsOf(
      uow,
      rows.map(row => row.id),
    )
    const currencies = await currenciesOfPlans(
      uow,
      rows.map(row => row.id),
    )
    return rows.map(
      (row): Row => ({
        pricing_currencies: currencies.get(row.id) ?? [],
        pricing_plan_version_infos: versions
          .filter(version => version.pricing_plan_id === row.id)
          .map(({ version, id, status, rate_card }) => ({
            version,
            id,
            status,
            ...(rate_card ? { rate_card } : {}),
          })),
      }),
    )
  },
  fixture: {
    create: async seed => ({ reference: seed.unique('standard'), name: seed.unique('Standard') }),
    update: { description: 'Pay for what you use.' },
  },
})

/**
 * A CUSTOM plan is for one customer, and stays so: its subscriptions are the customer's (semantics 3.1). A rate card stays one too:
 * its versions are in force by time.
 */
function checkCustomer(row: PricingPlan, previous: PricingPlan | null): void {
  for (const field of ['type', 'customer_id', 'variant'] as const) {
    if (!previous || row[field] === previous[field]) continue
    throw new AppError('INVALID_FIELD', `${field} never changes; create another plan.`, { field })
  }
  if (row.type === 'CUSTOM' && !row.customer_id) {
    throw new AppError('MISSING_FIELD', 'A CUSTOM plan is for one customer; name it.', { field: 'customer_id' })
  }
  if (row.type === 'STANDARD' && row.customer_id) {
    throw new AppError('INVALID_FIELD', 'A STANDARD plan is for everyone; use CUSTOM for one customer.', {
      field: 'customer_id',
    })
  }
}

/** The plans that have a version of one of these statuses. */
const plansOfVersions = (uow: ReadUow, statuses: readonly string[]) =>
  uow.tx
    .select({ id: pricingPlanVersions.pricing_plan_id })
    .from(pricingPlanVersions)
    .where(
      and(
        inThisTenant(uow, pricingPlanVersions),
        inArray(pricingPlanVersions.status, statuses as PricingPlanVersion['status'][]),
      ),
    )

async function versionsOf(uow: ReadUow, planIds: readonly string[]) {
  if (planIds.length === 0) return []
  return await uow.tx
    .select()
    .from(pricingPlanVersions)
    .where(
      and(inThisTenant(uow, pricingPlanVersions), anyOf(pricingPlanVersions.pricing_plan_id, idsOf('pric', planIds))),
    )
    .orderBy(asc(pricingPlanVersions.version))
}
