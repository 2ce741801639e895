// Copying a subscription: a DRAFT with the same terms and schedules, to be changed and activated on its own (semantics 4.1).
import type { Uow } from '../../../../shared/database/database.ts'
import { lockExisting } from '../../../resource/store.ts'
import { cloneSchedule, cloneSubscription } from '../clone.ts'
import { listSchedules } from '../schedules/schedule.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Subscription } from '../table.ts'

/** Creates a DRAFT with the terms and the schedules of another. Its custom fields go along, but for those that hold each value once. */
export async function copySubscription(
  uow: Uow,
  idOrReference: string,
  { reference }: { readonly reference?: string | null },
): Promise<Subscription> {
  // Locked, so that its schedules stand still meanwhile.
  const source = await lockExisting(uow, subscriptionResource, idOrReference)
  const copy = await cloneSubscription(uow, source, { reference: reference ?? null })
  for (const schedule of await listSchedules(uow, source.id)) await cloneSchedule(uow, copy, schedule, {})
  return copy
}
