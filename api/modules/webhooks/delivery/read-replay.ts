// What a replay sends next.
import { sql } from 'drizzle-orm'
import type { SystemTransaction } from '../../../../shared/database/database.ts'
import { BODY_BYTES, OUTBOX_COLUMNS, outboxRow, type StoredOutboxRow } from '../../../workers/outbox-row.ts'
import { precedesSql, selectsSql, textArray } from './matches.ts'
import { BYTES_MAX, EVENTS_MAX, type TakenQueue, type Waiting } from './queue/queue-store.ts'

/** Events that one read examines: when few of them failed, it returns few, and the next read continues after them. */
const EXAMINED_MAX = 1_000

type ReplayingQueue = Pick<
  TakenQueue,
  'platform_id' | 'environment' | 'webhook_id' | 'position' | 'included_actions' | 'excluded_actions' | 'replay'
>

/**
 * The next events of the replay of `queue`, whatever their age: everything the webhook selects, or only what it has not
 * received. After a missed event all later events of the same object are included, received or not, so that the last
 * state sent of an object is the newest.
 */
export async function readReplay(tx: SystemTransaction, queue: ReplayingQueue): Promise<Waiting> {
  const { platform_id, environment, webhook_id, position, replay } = queue
  if (!replay) throw new Error(`the queue of ${webhook_id} has no replay`)
  const isSelected = selectsSql({
    included: textArray(queue.included_actions),
    excluded: textArray(queue.excluded_actions),
    type: sql`o.type`,
  })
  const attempts = sql`webhook_attempts a where a.platform_id = ${platform_id} and a.environment = ${environment}`
  // The webhook cannot have missed what happened before it was created.
  const isOlder = sql`exists (select from webhook_queues q where q.platform_id = ${platform_id} and q.environment = ${environment}
    and q.webhook_id = ${webhook_id} and ${precedesSql('first')})`
  const missed = sql`not ${isOlder} and not exists (select from ${attempts} and a.event_id = o.id and a.webhook_id = ${webhook_id} and a.succeeded
    and a.replay_id is distinct from ${replay.id})`
  const begun = sql`exists (select from ${attempts} and a.replay_id = ${replay.id} and a.replayed_object_id = o.object_id)`
  const isWanted =
    replay.scope === 'ALL'
      ? sql`true`
      : sql`(bool_or(${missed}) over (partition by o.object_id order by o.position) or ${begun})`
  const limit = Math.min(EVENTS_MAX, replay.events_per_second)
  const { rows } = await tx.execute<Read>(sql`
    with examined as materialized (
      select o.* from outbox o where o.platform_id = ${platform_id} and o.environment = ${environment}
        and o.position > ${position}::bigint and o.position <= ${replay.to_position}::bigint
      order by o.position limit ${EXAMINED_MAX}
    ), wanted as (
      select o.id, o.position, ${BODY_BYTES} as bytes, ${isWanted} as is_wanted from examined o where ${isSelected}
    ), chosen as (
      select *, count(*) over () as wanted, row_number() over (order by position) as nth,
        sum(bytes) over (order by position) - bytes as before from wanted where is_wanted
    ), until as (
      select count(*) as examined, max(position) as position from examined
    )
    select ${OUTBOX_COLUMNS}, o.position::text as position, coalesce(c.wanted, 0)::int as wanted, u.examined::int as examined,
      u.position::text as examined_to
    from until u
    left join chosen c on c.nth <= ${limit} and c.before < ${BYTES_MAX}
    left join examined o on o.id = c.id
    order by o.position`)
  const events = rows
    .filter(({ id }) => id !== null)
    .map(({ wanted: _wanted, examined: _examined, examined_to: _to, position: at, ...row }) => ({
      ...outboxRow(row),
      position: at,
    }))
  const { wanted = 0, examined = 0, examined_to = null } = rows[0] ?? {}
  const upTo = events.length < wanted ? null : examined < EXAMINED_MAX ? replay.to_position : examined_to
  return { events, upTo, isAll: false }
}

type Read = StoredOutboxRow & { position: string; wanted: number; examined: number; examined_to: string | null }
