// The ingest path alone, gateway to ClickHouse, with a platform, a meter, a sender and its ledger: what most fault tests
// stand on.
import type { Tenant } from '../../shared/tenant.ts'
import { insertMeter } from '../setup.ts'
import { createSender, type Sender } from './client.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { resendAll, USAGE_END_MS, USAGE_START_MS } from './load.ts'
import { type Reconciliation, reconcile } from './reconcile.ts'
import { type System, type SystemOptions, startSystem } from './start-system.ts'

export type IngestSystem = {
  readonly system: System
  readonly tenant: Tenant
  readonly ledger: Ledger
  readonly sender: Sender
  readonly apiKey: string
  reconcile(): Promise<Reconciliation>
  /**
   * Sends every event of a run (of all of them, without its name) once more, to a gateway that remembers none of them, so
   * that every repeat reaches the log. Resolves with their number.
   */
  resendEverything(run?: string): Promise<number>
  stop(): Promise<void>
}

export async function startIngestSystem(
  options: Pick<SystemOptions, 'env' | 'natsUrl' | 'ownClickHouse'> = {},
): Promise<IngestSystem> {
  const system = await startSystem({
    ...options,
    processes: ['ingest', 'aggregator'],
    // The rate limit is not the subject, and resending everything is faster than it.
    env: { INGEST_RATE_LIVE: '1000000', ...options.env },
  })
  const [platform] = system.platforms
  const tenant: Tenant = { platformId: platform.id, environment: 'LIVE' }
  const ledger = createLedger()
  const apiKey = platform.environments.LIVE.api_key
  await insertMeter(system.databaseUrl, platform.id)
  const sender = createSender({ url: system.ingestUrl, apiKey, ledger })
  return {
    system,
    tenant,
    ledger,
    sender,
    apiKey,
    reconcile: () => reconcile(system, tenant, ledger, { startMs: USAGE_START_MS, endMs: USAGE_END_MS }),
    resendEverything: async (run = '') => {
      await system.restart('ingest')
      const all = [...ledger.entries.values()].map(({ event }) => event)
      const events = all.filter(({ reference }) => reference.startsWith(run))
      await resendAll(sender, events)
      return events.length
    },
    stop: async () => {
      await sender.close()
      await system.stop()
    },
  }
}
