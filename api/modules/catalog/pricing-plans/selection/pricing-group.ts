// Pricing groups: pricings of a version among which a schedule selects. They belong to their version and are fixed with it.
import Type from 'typebox'
import { defineResource, field } from '../../../../resource/define-resource.ts'
import { DisplayOrder, IdText, Included, Name, OneOf } from '../../../../resource/shapes.ts'
import { SelectionConstraintShape } from '../../pricing-groups/schema.ts'
import { type PricingGroup, pricingGroups } from '../../pricing-groups/table.ts'
import { pricingPlanVersionResource } from '../pricing-plan-version.ts'
import { requireDraftVersion } from '../require-draft-version.ts'
import { pricingsOf, pricingView, withoutVersion } from '../version-pricings.ts'

export const pricingGroupResource = defineResource<PricingGroup>({
  objectType: 'PRICING_GROUP',
  shapeName: 'PricingGroup',
  idPrefix: 'prgr',
  path: 'pricing-groups',
  table: pricingGroups,
  fields: {
    pricing_plan_version_id: field(IdText('pricing plan version'), { create: 'required', change: 'never' }),
    name: field(Name, { create: 'required' }),
    product_type: field(OneOf('DEFAULT', 'ADDON')),
    selection_constraint: field(SelectionConstraintShape),
    display_order: field(DisplayOrder),
  },
  operations: ['create', 'get', 'update', 'delete'],
  byReference: false,
  references: { pricing_plan_version_id: () => pricingPlanVersionResource },
  defaults: () => ({ product_type: 'DEFAULT', selection_constraint: 'ANY' }),
  check: requireDraftVersion,
  beforeDelete: requireDraftVersion,
  derive: withoutVersion,
  shownNull: ['pricing_plan_version_id'],
  computed: { pricings: Type.Array(Included('Pricing')) },
  compute: async (uow, groups) => {
    const rows = await pricingsOf(
      uow,
      groups.map(({ pricing_plan_version_id }) => pricing_plan_version_id),
    )
    return groups.map(({ id }) => ({ pricings: rows.filter(row => row.pricing_group_id === id).map(pricingView) }))
  },
  fixture: {
    create: async seed => ({
      pricing_plan_version_id: (await seed.make(pricingPlanVersionResource)).id,
      name: seed.unique('Support'),
      selection_constraint: 'AT_MOST_ONE',
    }),
    update: { display_order: 2 },
  },
})
