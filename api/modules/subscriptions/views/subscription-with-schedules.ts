// Subscriptions as the api shows them: what they say of their schedules can be expanded to the schedules. Apart from the
// subscription itself, which a schedule refers to.
import type { Resource } from '../../../resource/define-resource.ts'
import { scheduleResource } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'

export const subscriptionWithSchedules: Resource<Subscription> = {
  ...subscriptionResource,
  expand: {
    ...subscriptionResource.expand,
    pricing_plan_schedule: { by: 'id', to: () => scheduleResource, within: 'pricing_plan_schedule_infos' },
  },
}
