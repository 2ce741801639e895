// Wire shape of `change-plan`.
import { IdText, Optional, Period, Shape, Timestamp } from '../../../resource/shapes.ts'

export const ChangePlanBody = Shape(
  { pricing_plan_id: IdText('pricing plan'), start_at: Optional(Timestamp), billing_period: Optional(Period) },
  { title: 'PricingPlanSubscriptionChangePlan' },
)
