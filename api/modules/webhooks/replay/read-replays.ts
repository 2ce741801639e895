// Replays of a webhook as the API shows them, with their progress.
import { and, eq, sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { listSlice } from '../../../list/list-slice.ts'
import type { Slice, Sliced } from '../../../list/slice.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { selectsSql, textArray } from '../delivery/matches.ts'
import { replayView } from '../delivery/running-replay.ts'
import { webhookReplays as table, type WebhookReplay } from '../table.ts'
import { webhookResource } from '../webhook.ts'

/** Counting stops at this many events. */
const COUNTED_MAX = 10_000

/** The replays of a webhook, newest first. Throws RESOURCE_NOT_FOUND, and INVALID_FIELD for an invalid cursor. */
export async function listReplays(uow: ReadUow, idOrReference: string, slice: Slice): Promise<Sliced<WebhookReplay>> {
  const { id } = await getOne(uow, webhookResource, idOrReference)
  return await listSlice<WebhookReplay>(
    uow,
    { table },
    { conditions: [eq(table.webhook_id, id)], order: { by: 'created_at', descending: true }, slice },
  )
}

/** Throws RESOURCE_NOT_FOUND. */
export async function getReplay(uow: ReadUow, idOrReference: string, replayId: string): Promise<WebhookReplay> {
  const { id } = await getOne(uow, webhookResource, idOrReference)
  const [found] = await uow.tx
    .select()
    .from(table)
    .where(and(inThisTenant(uow, table), eq(table.webhook_id, id), eq(table.id, replayId)))
  if (found) return found
  throw new AppError('RESOURCE_NOT_FOUND', `There is no WEBHOOK_REPLAY ${JSON.stringify(replayId)} of this webhook.`, {
    resourceType: 'WEBHOOK_REPLAY',
  })
}

/** A replay as the API returns it. */
export async function viewOfReplay(uow: ReadUow, replay: WebhookReplay): Promise<Row> {
  return replayView(replay, replay.status === 'RUNNING' ? await countRemaining(uow, replay) : 0)
}

async function countRemaining(uow: ReadUow, { webhook_id, to_position }: WebhookReplay): Promise<number | null> {
  const { platformId, environment } = uow.tenant
  const { included_actions, excluded_actions } = await getOne(uow, webhookResource, webhook_id)
  const isSelected = selectsSql({
    included: textArray(included_actions),
    excluded: textArray(excluded_actions),
    type: sql`k.type`,
  })
  const { rows } = await uow.tx.execute<{ examined: number; remaining: number }>(sql`
    select count(*)::int as examined, count(*) filter (where ${isSelected})::int as remaining from (
      select o.type from webhook_queues q
      join outbox o on o.platform_id = q.platform_id and o.environment = q.environment and o.position > q.position
        and o.position <= ${to_position}::bigint
      where q.platform_id = ${platformId} and q.environment = ${environment} and q.webhook_id = ${webhook_id}
      limit ${COUNTED_MAX}) k`)
  const { examined = 0, remaining = 0 } = rows[0] ?? {}
  return examined === COUNTED_MAX ? null : remaining
}
