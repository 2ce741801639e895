// The delivery state of events at a webhook: received, waiting, or neither.
import { type SQL, sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { precedesSql, selectsSql, textArray } from '../delivery/matches.ts'
import { webhooks as table, type Webhook } from '../table.ts'
import type { DELIVERY_STATUSES } from './schema.ts'

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** A webhook, with the first and the current position of its queue. */
export type WebhookAt = { readonly webhook: Webhook; readonly firstPosition: string; readonly position: string }

/** `webhooks` with their queues. */
export async function withQueues(uow: ReadUow, webhooks: readonly Webhook[]): Promise<WebhookAt[]> {
  const { platformId, environment } = uow.tenant
  const ids = JSON.stringify(webhooks.map(({ id }) => id))
  const { rows } = await uow.tx.execute<{ webhook_id: string; first_position: string; position: string }>(sql`
    select webhook_id, first_position::text as first_position, position::text as position from webhook_queues
    where platform_id = ${platformId} and environment = ${environment}
      and webhook_id in (select jsonb_array_elements_text(${ids}::jsonb))`)
  return webhooks.flatMap(webhook => {
    const queue = rows.find(({ webhook_id }) => webhook_id === webhook.id)
    return queue ? [{ webhook, firstPosition: queue.first_position, position: queue.position }] : []
  })
}

/** Every webhook of the tenant with its queue. */
export const allWithQueues = async (uow: ReadUow): Promise<WebhookAt[]> =>
  withQueues(uow, await uow.tx.select().from(table).where(inThisTenant(uow, table)))

/** Conditions on a row `k` of the outbox, with its `seq` and `xid`, about its delivery to a webhook. */
export function deliveryConditions(
  uow: ReadUow,
  { webhook, firstPosition, position }: WebhookAt,
): { readonly isFor: SQL; readonly has: Readonly<Record<DeliveryStatus, SQL>> } {
  const { platformId, environment } = uow.tenant
  const attempted = (more: SQL) => sql`exists (select from webhook_attempts a
    where a.platform_id = ${platformId} and a.environment = ${environment} and a.event_id = k.id and a.webhook_id = ${webhook.id} ${more})`
  const { included_actions, excluded_actions } = webhook
  const isSelected = selectsSql({
    included: textArray(included_actions),
    excluded: textArray(excluded_actions),
    type: sql`k.type`,
  })
  const received = attempted(sql`and a.succeeded`)
  const precedes = (
    since: 'first' | 'active',
  ) => sql`exists (select from webhook_queues q where q.platform_id = ${platformId}
    and q.environment = ${environment} and q.webhook_id = ${webhook.id} and ${precedesSql(since, { o: 'k' })})`
  const waits = webhook.active
    ? sql`(k.position > ${position}::bigint and ${isSelected} and not ${precedes('active')})`
    : sql`false`
  return {
    // A sent event belongs to the webhook, however its lists of types have changed since.
    isFor: sql`((k.position > ${firstPosition}::bigint and ${isSelected} and not ${precedes('first')}) or ${attempted(sql``)})`,
    has: {
      SUCCEEDED: received,
      PENDING: sql`(${waits} and not ${received})`,
      FAILED: sql`(not ${waits} and not ${received})`,
    },
  }
}

type Stored = {
  event_id: string
  webhook_id: string
  attempt_count: number
  received: boolean
  is_for: boolean
  waits: boolean
  last_ms: string | null
  last_response_code: number | null
}
export type DeliveryView = {
  readonly webhook_id: string
  readonly status: DeliveryStatus
  readonly attempt_count: number
  readonly last_attempt_at: string | null
  readonly last_response_code: number | null
}

/** For each of `events`, its deliveries to those of `webhooks` that get it, by event id. */
export async function deliveriesOf(
  uow: ReadUow,
  events: readonly { readonly id: string; readonly position: string; readonly type: string }[],
  webhooks: readonly WebhookAt[],
): Promise<Map<string, DeliveryView[]>> {
  const { platformId, environment } = uow.tenant
  const given = events.map(({ id, position, type }) => ({ id, position, type }))
  const hooks = webhooks.map(({ webhook, firstPosition, position }) => ({
    id: webhook.id,
    active: webhook.active,
    included: webhook.included_actions,
    excluded: webhook.excluded_actions,
    first: firstPosition,
    at: position,
  }))
  const isSelected = selectsSql({ included: sql`w.included`, excluded: sql`w.excluded`, type: sql`e.type` })
  const { rows } = await uow.tx.execute<Stored>(sql`
    select e.id as event_id, w.id as webhook_id, coalesce(a.count, 0)::int as attempt_count,
      coalesce(a.received, false) as received, (a.count > 0 or (e.position > w.first and ${isSelected} and not ${precedesSql('first')})) as is_for,
      (w.active and e.position > w.at and ${isSelected} and not ${precedesSql('active')}) as waits,
      (extract(epoch from a.last_at) * 1000)::bigint::text as last_ms, a.last_response_code
    from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as e(id text, position bigint, type text)
    cross join jsonb_to_recordset(${JSON.stringify(hooks)}::jsonb)
      as w(id text, active boolean, included text[], excluded text[], first bigint, at bigint)
    left join outbox o on o.platform_id = ${platformId} and o.environment = ${environment} and o.position = e.position
    left join webhook_queues q on q.platform_id = ${platformId} and q.environment = ${environment} and q.webhook_id = w.id
    left join lateral (
      select count(*) as count, bool_or(succeeded) as received, max(created_at) as last_at,
        (array_agg(response_code order by created_at desc, id desc))[1] as last_response_code
      from webhook_attempts
      where platform_id = ${platformId} and environment = ${environment} and event_id = e.id and webhook_id = w.id) a on true
    order by e.position, w.id`)
  const found = new Map<string, DeliveryView[]>(events.map(({ id }) => [id, []]))
  for (const row of rows.filter(({ is_for }) => is_for)) {
    found.get(row.event_id)?.push({
      webhook_id: row.webhook_id,
      status: row.received ? 'SUCCEEDED' : row.waits ? 'PENDING' : 'FAILED',
      attempt_count: row.attempt_count,
      last_attempt_at: row.last_ms === null ? null : formatInstant(instantOf(Number(row.last_ms))),
      last_response_code: row.last_response_code,
    })
  }
  return found
}
