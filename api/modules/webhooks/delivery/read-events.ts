// What waits for a webhook: outbox rows after a position, of the webhook's types, in order.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import type { RelayedChange } from '../../../workers/outbox-consumer.ts'
import { OUTBOX_COLUMNS, outboxRow, type StoredOutboxRow } from '../../../workers/outbox-row.ts'
import type { Webhook } from '../table.ts'
import { precedesSql, selectsSql, textArray } from './matches.ts'
import { readReplay } from './read-replay.ts'
import { HORIZON_MS } from './retry-schedule.ts'
import { runningReplay } from './running-replay.ts'

/** The event at the head of the queue of `webhook`, which is at `position`; null when nothing waits. */
export async function nextEvent(uow: ReadUow, webhook: Webhook, position: string): Promise<RelayedChange | null> {
  const replay = await runningReplay(uow, webhook.id)
  if (!replay) return (await eventsAfter(uow, webhook, position))[0] ?? null
  const { platformId: platform_id, environment } = uow.tenant
  const queue = { ...webhook, platform_id, environment, webhook_id: webhook.id, position, replay }
  return (await readReplay(uow.tx, queue)).events[0] ?? null
}

/** The next event of `webhook` after `position`, ignoring events too old to be sent. */
async function eventsAfter(
  uow: ReadUow,
  { id, included_actions, excluded_actions }: Pick<Webhook, 'id' | 'included_actions' | 'excluded_actions'>,
  position: string,
): Promise<RelayedChange[]> {
  const { platformId, environment } = uow.tenant
  const isSelected = selectsSql({
    included: textArray(included_actions),
    excluded: textArray(excluded_actions),
    type: sql`o.type`,
  })
  const { rows } = await uow.tx.execute<StoredOutboxRow & { position: string }>(sql`
    select ${OUTBOX_COLUMNS}, o.position::text as position from outbox o
    join webhook_queues q on q.platform_id = o.platform_id and q.environment = o.environment and q.webhook_id = ${id}
    where o.platform_id = ${platformId} and o.environment = ${environment} and o.position > ${position}::bigint
      and o.created_at > ${formatInstant(instantOf(uow.now - HORIZON_MS))}::timestamptz and ${isSelected}
      and not ${precedesSql('active')}
    order by o.position limit 1`)
  return rows.map(({ position: own, ...row }) => ({ ...outboxRow(row), position: own }))
}
