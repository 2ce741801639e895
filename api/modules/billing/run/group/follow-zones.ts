// Before a run: subscriptions that end with their term follow a change of time zone, so that no day is billed short or twice.
import { type Database, inTenant, SERVICE } from '../../../../../shared/database/database.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { lockOne } from '../../../../resource/store.ts'
import { endsBesideDays, followZone } from '../../../subscriptions/ending/follow-zone.ts'
import { subscriptionResource } from '../../../subscriptions/subscription.ts'
import { billingZoneOf } from '../../terms/windows.ts'
import type { Outcome } from '../outcome.ts'
import type { SubscriptionState } from '../state/subscription-state.ts'

/** Null for a subscription whose end moved: it is to be read again. FAILED for one whose end cannot move, which delays no other. */
export async function followZones(
  database: Database,
  tenant: Tenant,
  states: ReadonlyMap<string, SubscriptionState>,
): Promise<ReadonlyMap<string, Outcome | null>> {
  const outcomes = new Map<string, Outcome | null>()
  for (const [id, { inputs }] of states) {
    if (!endsBesideDays(inputs.subscription, () => billingZoneOf(inputs))) continue
    try {
      if (await moveEnd(database, tenant, id)) outcomes.set(id, null)
    } catch (error) {
      outcomes.set(id, { kind: 'FAILED', error })
    }
  }
  return outcomes
}

/** False where it stays: its days are cut there. */
const moveEnd = (database: Database, tenant: Tenant, id: string): Promise<boolean> =>
  inTenant(database, tenant, SERVICE, async uow => {
    const row = await lockOne(uow, subscriptionResource, id)
    return row !== null && (await followZone(uow, row)) !== row
  })
