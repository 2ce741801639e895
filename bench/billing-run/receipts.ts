// What the receipts of FINAL invoices cost, which a job makes of single events after a run (api/modules/billing/why/receipt).
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Costs } from '../cpu.ts'
import { countTrees } from './tree-cpu.ts'

const POLL_MS = 200
const TIMEOUT_MS = 1_800_000

export type ReceiptCosts = {
  readonly receipts: number
  readonly seconds: number
  /** Events of one, on average. */
  readonly events: number
  /** Milliseconds of processor time a receipt, by process. */
  readonly costs: Costs
}

/** Makes all receipts that are missing now, as the job of every fifth minute does. Null when none is. */
export async function makeAllReceipts(
  database: pg.Client,
  pids: Readonly<Record<string, number>>,
): Promise<ReceiptCosts | null> {
  const waiting = async (): Promise<number> => {
    const { rows } = await database.query<{ waiting: number }>(
      'select count(*)::int as waiting from pinned_inputs where not has_receipt',
    )
    return rows[0]?.waiting ?? 0
  }
  const receipts = await waiting()
  if (receipts === 0) return null
  const count = countTrees(pids)
  const startedAt = performance.now()
  await database.query(`select graphile_worker.add_job('usage-receipts', job_key => 'usage-receipts')`)
  while ((await waiting()) > 0) {
    if (performance.now() - startedAt > TIMEOUT_MS) throw new Error('not every receipt was made in time')
    await sleep(POLL_MS)
  }
  const seconds = (performance.now() - startedAt) / 1000
  const costs = count(receipts)
  const { rows } = await database.query<{ events: number }>(
    'select (sum(number_of_events) / count(*))::float as events from usage_receipts',
  )
  return { receipts, seconds, events: rows[0]?.events ?? 0, costs }
}
