// The meter of a probe, and what the interface says was counted of it.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient } from '../../infra/demo/client.ts'
import { customersOf, METER, type Run, timesOf, VALUE } from './scenarios.ts'
import type { Target } from './target.ts'

/** A list tells how many match up to here. */
const LIST_DEPTH = 50_000
const SETTLES_WITHIN_MS = 90_000
const STEADY_POLLS = 3
const POLL_MS = 1_000

export type Usage = {
  /** Finds the meter, or makes it when the key may. */
  ensureMeter(): Promise<void>
  /** Waits until the count stands still, for a minute and a half at most. */
  count(run: Run): Promise<{ counted: number; afterSeconds: number }>
}

export function createUsage({ baseUrl, apiKey }: Target): Usage {
  const client = createClient(baseUrl, apiKey)
  return {
    async ensureMeter() {
      const value =
        (await client.find(`/v1/meter-values/${VALUE}`)) ??
        (await client.post('/v1/meter-values', {
          reference: VALUE,
          name: 'k6 tokens',
          type: 'NUMBER',
          status: 'ACTIVE',
        }))
      if ((await client.find(`/v1/meters/${METER}`)) !== null) return
      const meter_values = [{ id: value.id, required: true }]
      await client.post('/v1/meters', { reference: METER, name: 'k6 requests', status: 'ACTIVE', meter_values })
      await sleep(POLL_MS) // A gateway knows a new meter within a second.
    },
    async count(run) {
      const begun = performance.now()
      let [counted, steady, afterMs] = [-1, 0, 0]
      while (steady < STEADY_POLLS && performance.now() - begun < SETTLES_WITHIN_MS) {
        const now = await total(client, run)
        if (now !== counted) afterMs = performance.now() - begun
        steady = now === counted ? steady + 1 : 0
        counted = now
        await sleep(POLL_MS)
      }
      return { counted, afterSeconds: afterMs / 1000 }
    },
  }
}

async function total(client: Client, run: Run): Promise<number> {
  const times = timesOf(run)
  let sum = 0
  for (const customer of customersOf(run)) sum += await countOf(client, customer, times)
  return sum
}

/** In seconds; the range of a list holds its last second whole. */
type Window = { readonly from: number; readonly to: number }

/** Over halves of the time where there are more than a list tells. */
async function countOf(client: Client, customer: string, window: Window): Promise<number> {
  const found = await matching(client, customer, window, '')
  if (found < LIST_DEPTH) return found - (await matching(client, customer, window, '&processed_details_type=DUPLICATE'))
  const middle = Math.floor((window.from + window.to) / 2)
  const before = await countOf(client, customer, { ...window, to: middle })
  return before + (await countOf(client, customer, { ...window, from: middle + 1 }))
}

const stamp = (seconds: number): string => new Date(seconds * 1000).toISOString()

async function matching(client: Client, customer: string, { from, to }: Window, more: string): Promise<number> {
  const range = encodeURIComponent(`[${stamp(from)},${stamp(to)}]`)
  const answer = await client.get(`/v1/events?customer_id=${customer}&timestamp=${range}&deleted=false&limit=1${more}`)
  const { data, total_number_of_pages } = answer as { data: unknown[]; total_number_of_pages: number }
  return data.length === 0 ? 0 : total_number_of_pages
}
