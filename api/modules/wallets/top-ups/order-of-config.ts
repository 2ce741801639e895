// What an auto top-up buys, as the body of an on-demand charge.
import type { OnDemandChargeBody } from '../../billing/on-demand/schema.ts'
import type { AutoTopUpConfig } from './table.ts'

type Ordered = Pick<AutoTopUpConfig, 'pricing_plan_schedule_id' | 'pricing_item_id' | 'topup_amount' | 'units'>

/** The order of one top-up. */
export const orderOf = ({
  pricing_plan_schedule_id,
  pricing_item_id,
  topup_amount,
  units,
}: Ordered): OnDemandChargeBody => ({
  pricing_plan_schedule_id,
  pricing_items: [
    {
      pricing_item_id,
      ...(units ? { units: { number: units.number ?? null } } : {}),
      ...(topup_amount ? { flexible_amount: { ...topup_amount } } : {}),
    },
  ],
})
