// The queue of one webhook as the API sees it: created and restarted with the webhook, and shown while deliveries fail.
import { type SQL, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../../shared/database/database.ts'
import { formatInstant, instantOf } from '../../../../../shared/time.ts'
import type { Row } from '../../../../resource/define-resource.ts'
import { payloadText } from '../../request/payload.ts'
import type { Webhook } from '../../table.ts'
import { nextEvent } from '../read-events.ts'
import { cancelReplay } from '../running-replay.ts'

/** The columns that say after which change the queue of a webhook begins (matches.ts). */
const begins = (since: 'first' | 'active'): SQL => sql.raw(`${since}_seq, ${since}_snapshot`)

/**
 * Updates the queue after a webhook is saved. A new or restarted queue begins after the latest change: what happened
 * while a webhook was off is never sent (contract: states of a webhook). A snapshot tells the changes that were committed
 * before and wait for their position. A change that commits later is sent, however early it began: whoever reads
 * everything once the webhook is active, and then follows its events, misses nothing.
 */
export async function prepareQueue(uow: Uow, { id, active }: Webhook, previous: Webhook | null): Promise<void> {
  const { platformId, environment } = uow.tenant
  const ofTenant = sql`platform_id = ${platformId} and environment = ${environment}`
  const last = sql`(select coalesce(max(position), 0) from outbox where ${ofTenant} and position is not null)`
  // One statement reads all three, so that they are of the same moment.
  const now = sql`(select last, seq, case when seq is null then null else pg_current_snapshot() end as snapshot
    from (select ${last} as last, (select max(seq) from outbox where ${ofTenant} and position is null) as seq) l)`
  if (previous === null) {
    await uow.tx.execute(sql`
      insert into webhook_queues (platform_id, environment, webhook_id, position, first_position, ${begins('first')}, ${begins('active')})
      select ${platformId}, ${environment}, ${id}, last, last, seq, snapshot, seq, snapshot from ${now} n`)
    return
  }
  if (active === previous.active) return
  // The fence takes the queue away from any worker that is sending now. Its lease lasts until that attempt has ended, so that what comes
  // anew never arrives before it.
  const anew = active
    ? sql`(position, ${begins('active')}) = ${now}, failures = 0, cause = null, is_slow = false,`
    : sql``
  if (!active) await cancelReplay(uow, id)
  await uow.tx.execute(sql`
    update webhook_queues set ${anew} next_attempt_at = null, waiting_since = null, fence = fence + 1
    where platform_id = ${platformId} and environment = ${environment} and webhook_id = ${id}`)
}

type Failing = { webhook_id: string; position: string; failures: number; cause: string; retry_ms: string | null }

/** `penalty_box_data` by webhook id, for those of `webhooks` whose deliveries fail. */
export async function loadPenalties(uow: ReadUow, webhooks: readonly Webhook[]): Promise<Map<string, Row>> {
  const { platformId, environment } = uow.tenant
  // The payload may be of any resource.
  const mayReadEvents = uow.actor.may?.('WEBHOOK_EVENT.VIEW') !== false
  const ids = JSON.stringify(webhooks.map(({ id }) => id))
  const { rows } = await uow.tx.execute<Failing>(sql`
    select webhook_id, position::text as position, failures, cause,
      (extract(epoch from next_attempt_at) * 1000)::bigint::text as retry_ms
    from webhook_queues where platform_id = ${platformId} and environment = ${environment} and failures > 0
      and webhook_id in (select jsonb_array_elements_text(${ids}::jsonb))`)
  const found = new Map<string, Row>()
  for (const { webhook_id, position, failures, cause, retry_ms } of rows) {
    const webhook = webhooks.find(({ id }) => id === webhook_id)
    if (!webhook) continue
    const head = webhook.active ? await nextEvent(uow, webhook, position) : null
    // An event of a webhook contains this field itself: including its payload would nest each payload in the next.
    const isShown = head !== null && head.object_type !== 'WEBHOOK' && mayReadEvents
    found.set(webhook_id, {
      retry_count: failures,
      retry_at: retry_ms === null ? null : formatInstant(instantOf(Number(retry_ms))),
      cause,
      event_id: head?.id ?? null,
      payload: isShown ? payloadText(head, webhook.include_previous_data) : null,
    })
  }
  return found
}
