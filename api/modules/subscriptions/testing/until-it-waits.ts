// A request that comes while another holds what it needs.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, ApiHarness } from '../../../testing/harness.ts'

/** Sends the request, and gives its answer to come once it waits for a lock, or has one. */
export async function untilItWaits(
  api: ApiHarness,
  request: () => Promise<Answer>,
): Promise<{ readonly answer: Promise<Answer> }> {
  let isAnswered = false
  const answer = request().finally(() => {
    isAnswered = true
  })
  const waits = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
  while (!isAnswered && (await api.sql(waits, [])).length === 0) await sleep(20)
  return { answer }
}
