// The outbox consumer that wakes queues for new events. It copies nothing: queues read the outbox themselves.
import { sql } from 'drizzle-orm'
import { at, formatInstant } from '../../../../../shared/time.ts'
import type { ConsumerOfHeads } from '../../../../workers/outbox-consumer.ts'

/**
 * Makes queues due that select one of these changes and that wait for nothing else. Raises `wakes` for all of them,
 * including queues that are being sent: recording that turn then shows that there is more (queue-store.ts).
 */
export const wakeQueues: ConsumerOfHeads = {
  name: 'webhooks',
  types: 'ALL',
  startsAt: 'NEXT',
  reads: 'HEADS',
  rights: { webhooks: ['select'], webhook_queues: ['select', 'update'] },
  handle: async (tx, changes) => {
    const tenants = new Map<string, { platform_id: string; environment: string; types: Set<string>; since: string }>()
    for (const { platform_id, environment, type, created_at } of changes) {
      const key = `${platform_id} ${environment}`
      const known = tenants.get(key) ?? { platform_id, environment, types: new Set(), since: created_at }
      known.types.add(type)
      tenants.set(key, known)
    }
    const given = [...tenants.values()].map(({ types, since, ...tenant }) => ({
      ...tenant,
      types: [...types],
      since: formatInstant(at(since)),
    }))
    await tx.execute(sql`
      with tenants as (
        select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
          as t(platform_id text, environment text, types text[], since timestamptz)
      ), due as (
        -- In one order, as those who record turns take them: neither waits for the other in a circle.
        select q.platform_id, q.environment, q.webhook_id, t.since from webhook_queues q
        join webhooks w on w.platform_id = q.platform_id and w.environment = q.environment and w.id = q.webhook_id
        join tenants t on t.platform_id = q.platform_id and t.environment = q.environment
        where w.active and case when cardinality(w.included_actions) > 0 then w.included_actions && t.types
          else not t.types <@ w.excluded_actions end
        order by q.platform_id, q.environment, q.webhook_id for update of q
      )
      update webhook_queues q set wakes = q.wakes + 1,
        next_attempt_at = coalesce(q.next_attempt_at, due.since), waiting_since = coalesce(q.waiting_since, due.since)
      from due where q.platform_id = due.platform_id and q.environment = due.environment and q.webhook_id = due.webhook_id`)
  },
}
