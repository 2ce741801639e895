// Saves an alert once, whoever finds what set its rule off and however many at once: the database's key decides.
import { and, eq } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../shared/database/database.ts'
import { type Id, newId } from '../../../shared/ids.ts'
import { formatInstant } from '../../../shared/time.ts'
import { emit } from '../../outbox.ts'
import type { Row } from '../../resource/define-resource.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { viewOf } from '../../resource/views.ts'
import { alertResource } from './alert.ts'
import { type Alert, alerts } from './table.ts'

export type NewAlert = Pick<Alert, 'alert_rule_id' | 'customer_id' | 'type' | 'data_trigger_reference' | 'alert_data'>

/** The alert of the rule that `reference` set off before; null when none did, or nothing is named. */
export async function findAlert(uow: ReadUow, ruleId: Id<'alru'>, reference: string | null): Promise<Alert | null> {
  if (reference === null) return null
  const [row] = await uow.tx
    .select()
    .from(alerts)
    .where(
      and(inThisTenant(uow, alerts), eq(alerts.alert_rule_id, ruleId), eq(alerts.data_trigger_reference, reference)),
    )
  return row ?? null
}

/** The view of the alert, new or of before, and which of them it is. Emits CREATED for a new one. */
export async function saveAlert(
  uow: Uow,
  values: NewAlert,
): Promise<{ readonly view: Row; readonly created: boolean }> {
  const now = formatInstant(uow.now)
  const { platformId: platform_id, environment } = uow.tenant
  const id = newId('aler')
  const [row] = await uow.tx
    .insert(alerts)
    .values({ ...values, platform_id, environment, id, created_at: now, updated_at: now })
    .onConflictDoNothing()
    .returning()
  if (!row) {
    // What stood in the way has committed, or the insert would have waited and gone on.
    const there = await findAlert(uow, values.alert_rule_id, values.data_trigger_reference)
    if (!there) throw new Error('an alert met another that is not there')
    return { view: await viewOf(uow, alertResource, there), created: false }
  }
  const view = await viewOf(uow, alertResource, row)
  await emit(uow, { type: 'ALERT.CREATED', objectId: row.id, data: view, previous: null })
  return { view, created: true }
}
