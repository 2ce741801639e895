// Deliveries inside a test process with a test clock: relays changes, wakes queues and sends what is due, step by step.
import { Registry } from 'prom-client'
import { expect, vi } from 'vitest'
import { asSystem, type Database } from '../../../../shared/database/database.ts'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { outboundPolicy } from '../../../../shared/outbound/judge-url.ts'
import { createOutboundRequest } from '../../../../shared/outbound/outbound-request.ts'
import { type Logger, silentLogger } from '../../../../shared/process/logger.ts'
import { openTestDatabase } from '../../../../shared/testing/database-logins.ts'
import { createWorkerMetrics, type WorkerMetrics } from '../../../jobs/metrics.ts'
import { webhookDeps } from '../../../testing/ground.ts'
import { type ApiHarness, startOwnApi } from '../../../testing/harness.ts'
import { consumeBatch, registerConsumer } from '../../../workers/outbox-consumer.ts'
import { relayBatch } from '../../../workers/outbox-relay.ts'
import { wakeQueues } from '../delivery/queue/wake-queues.ts'
import { type SenderDeps, sendDue } from '../delivery/sender.ts'
import { createPost, type Post, WEBHOOK_TIMES } from '../request/post.ts'
import { createOpener } from '../request/request.ts'

export const LOCAL = outboundPolicy({ OUTBOUND_HTTP: 'refuse', OUTBOUND_HOSTS: [], OUTBOUND_NETWORKS: ['127.0.0.0/8'] })

export type DeliveryRig = {
  readonly api: ApiHarness
  /** In the role of the worker. */
  readonly system: Database
  readonly metrics: WorkerMetrics
  readonly deps: SenderDeps
  readonly jobDeps: { system: Database; outboxRetentionDays: number; metrics: WorkerMetrics; logger: Logger }
  /** Gives every committed change its position, and wakes the queues that select it. */
  relay(): Promise<void>
  /** Sends until nothing is due now. `post` replaces the real one. */
  send(more?: Partial<SenderDeps>): Promise<void>
  close(): Promise<void>
}

export async function openDeliveryRig(): Promise<DeliveryRig> {
  const webhooks = webhookDeps(LOCAL)
  const api = await startOwnApi(webhooks)
  const shared = { url: api.databaseUrl, clock: api.clock, logger: silentLogger, poolMax: 8 }
  const system = await openTestDatabase({ ...shared, role: 'millrace_worker' })
  const metrics = createWorkerMetrics(new Registry())
  const post: Post = createPost({ request: createOutboundRequest(LOCAL, WEBHOOK_TIMES), policy: LOCAL })
  const failpoints = createFailpoints('')
  const open = createOpener(webhooks.dataSecret)
  const deps = { post, open, system, database: api.database, failpoints, logger: silentLogger, metrics }
  await registerConsumer(system, wakeQueues)
  const waiting = async () =>
    (await asSystem(system, 'test', tx => tx.execute('select from outbox where position is null limit 1'))).rowCount
  return {
    api,
    system,
    metrics,
    deps,
    jobDeps: { system, outboxRetentionDays: 30, metrics, logger: silentLogger },
    relay: async () => {
      // An open transaction delays the positions, also one in the database of another test.
      const relayed = () => relayBatch({ database: system, reactions: [], failpoints }).then(waiting)
      await vi.waitFor(async () => expect(await relayed()).toBe(0), { interval: 5, timeout: 60_000 })
      while (await consumeBatch({ database: system, failpoints }, wakeQueues));
    },
    send: async more => {
      const own = { ...deps, ...more }
      while ((await sendDue(own, false)) + (await sendDue(own, true)) > 0);
    },
    close: async () => {
      await system.close()
      await api.close()
    },
  }
}
