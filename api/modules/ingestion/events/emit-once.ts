// The notice of a change that the log holds, once, however often the change is requested and wherever an earlier call ended.
import { sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { type DomainEvent, emit } from '../../../outbox.ts'

/**
 * Emits unless there was such a notice: a notice is in the audit trail, or waits in the outbox to get there, and one
 * statement sees both. `ofRequest`: several requests may each have one of their own. Says whether it emitted.
 */
export async function emitOnce(uow: Uow, event: DomainEvent, ofRequest: boolean): Promise<boolean> {
  const { platformId, environment } = uow.tenant
  const { objectId: id, type } = event
  const action = type.slice(type.indexOf('.') + 1)
  const request = ofRequest ? sql`and request_id is not distinct from ${uow.actor.requestId}` : sql``
  await uow.tx.execute(
    sql`select pg_advisory_xact_lock(hashtextextended(${`${platformId}\n${environment}\n${id}`}, 0))`,
  )
  const { rows } = await uow.tx.execute(sql`
    select from audit_records where platform_id = ${platformId} and environment = ${environment}
      and target_id = ${id} and action = ${action} ${request}
    union all
    select from outbox where platform_id = ${platformId} and environment = ${environment}
      and position is null and object_id = ${id} and type = ${type} ${request}`)
  if (rows.length > 0) return false
  await emit(uow, event)
  return true
}
