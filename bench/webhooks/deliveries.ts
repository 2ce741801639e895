// What deliveries of webhooks cost: ten thousand webhooks of a hundred tenants, of which a hundred are dead or slow, through the worker as it
// ships. First as many deliveries as it can make, then the age of events at healthy endpoints, without dead ones and beside them.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { countTrees } from '../billing-run/tree-cpu.ts'
import type { Costs } from '../cpu.ts'
import { type Running, startModule } from '../processes.ts'
import { startWorker } from '../product.ts'
import { setUp } from '../setup.ts'

const TENANTS = 100
const WEBHOOKS_EACH = 100
/** One webhook of each tenant is dead or slow: a third answer 503, a third never answer, a third answer after nine seconds. */
const DEAD = TENANTS
const HEALTHY = TENANTS * WEBHOOKS_EACH - DEAD
/** Events of each tenant in the burst. */
const BURST = 3
/** Events one after the other, each of another tenant, so each for 99 healthy webhooks. */
const TRICKLE = 40
const TRICKLE_MS = 250
const TIMEOUT_MS = 600_000

export type Deliveries = {
  readonly perSecond: number
  /** Microseconds of processor time a delivery, by process. */
  readonly costs: Costs
  readonly alone: Figures
  readonly besideDead: Figures
}
/** Of the healthy ones; `troubled` is how many attempts the dead and slow ones had meanwhile. */
type Figures = { readonly count: number; readonly p50Ms: number; readonly p99Ms: number; readonly troubled: number }

/** Measures all of it. Prints as it goes. */
export async function webhookDeliveries(): Promise<Deliveries> {
  const setup = await setUp()
  const running: Running[] = []
  const owner = new pg.Client({ connectionString: setup.databaseUrl })
  try {
    const receiver = await startModule('bench/webhooks/receiver', {})
    running.push(receiver)
    await owner.connect()
    await seed(owner, receiver.port)
    const worker = await startWorker(setup, await setup.startClickHouse(), {
      LOG_LEVEL: 'warn',
      OUTBOUND_NETWORKS: '127.0.0.0/8',
    })
    running.push(worker)
    const at = { owner, receiver: `http://127.0.0.1:${receiver.port}` }
    await burst(at, 1) // what was just started compiles what it runs
    const alone = await trickle(at)
    console.log(`  alone: p50 ${alone.p50Ms} ms, p99 ${alone.p99Ms} ms`)
    await owner.query(
      `update webhooks set url = replace(url, '/ok', case when platform_id < 'plat_033' then '/refusing'
         when platform_id < 'plat_066' then '/silent' else '/slow' end)
       where id = 'webh_000'`,
    )
    const pressing = pressDead(owner)
    const count = countTrees({ worker: worker.pid, postgres: setup.pids['postgres'] ?? 0, receiver: receiver.pid })
    const began = performance.now()
    await burst(at, BURST)
    const perSecond = (HEALTHY * BURST) / ((performance.now() - began) / 1_000)
    const milliseconds = count(HEALTHY * BURST)
    const costs = Object.fromEntries(Object.entries(milliseconds).map(([name, each]) => [name, each * 1_000]))
    console.log(`  ${Math.round(perSecond)} deliveries/s; µs of processor each: ${JSON.stringify(costs)}`)
    const besideDead = await trickle(at)
    await pressing.stop()
    console.log(
      `  beside dead ones: p50 ${besideDead.p50Ms} ms, p99 ${besideDead.p99Ms} ms; attempts at the dead and slow: ${besideDead.troubled}`,
    )
    return { perSecond, costs, alone, besideDead }
  } finally {
    await owner.end()
    for (const each of running.reverse()) await each.stop()
    await setup.stop()
  }
}

async function seed(owner: pg.Client, port: number): Promise<void> {
  const all = `select 'plat_' || lpad(t::text, 3, '0') as platform_id, 'webh_' || lpad(w::text, 3, '0') as id
    from generate_series(0, ${TENANTS - 1}) t, generate_series(0, ${WEBHOOKS_EACH - 1}) w`
  await owner.query(
    `insert into webhooks (platform_id, environment, id, reference, name, url)
     select platform_id, 'LIVE', id, id, id, 'http://127.0.0.1:${port}/ok' from (${all}) a`,
  )
  await owner.query(
    `insert into webhook_queues (platform_id, environment, webhook_id, position) select platform_id, 'LIVE', id, 0 from (${all}) a`,
  )
  await owner.query('analyze webhooks; analyze webhook_queues')
}

type At = { readonly owner: pg.Client; readonly receiver: string }
let counter = 0

/** An event of a resource of a kilobyte, for each of these tenants. */
async function emit({ owner }: At, tenants: readonly number[]): Promise<void> {
  counter += 1
  await owner.query(
    `insert into outbox (platform_id, environment, id, type, object_type, object_id, data, created_at)
     select 'plat_' || lpad(t::text, 3, '0'), 'LIVE', 'evnt_' || $2 || '_' || t, 'CUSTOMER.UPDATED', 'CUSTOMER', 'cust_1',
       jsonb_build_object('object_type', 'CUSTOMER', 'made_at', $3::bigint, 'name', repeat('x', 1000)), now()
     from unnest($1::int[]) t`,
    [tenants, counter, Date.now()],
  )
}

async function burst(at: At, events: number): Promise<void> {
  await fetch(`${at.receiver}/figures`, { method: 'DELETE' })
  const tenants = Array.from({ length: TENANTS }, (_, index) => index)
  for (let event = 0; event < events; event += 1) await emit(at, tenants)
  await received(at, HEALTHY * events)
}

/**
 * Makes the dead and slow ones due again every second, from their first event on, so that they want all the places there are for as
 * long as it runs: by themselves, the dead would fail once and wait for minutes.
 */
function pressDead(owner: pg.Client): { stop(): Promise<void> } {
  const stop = new AbortController()
  const pressing = (async () => {
    while (!stop.signal.aborted) {
      await owner.query(
        `update webhook_queues set next_attempt_at = now(), position = 0, failures = least(failures, 1)
         where webhook_id = 'webh_000' and leased_until <= now() and (next_attempt_at is null or next_attempt_at > now())`,
      )
      await sleep(1_000, undefined, { signal: stop.signal }).catch(() => undefined) // stopping ends the pause
    }
  })()
  return {
    stop: async () => {
      stop.abort()
      await pressing
    },
  }
}

async function trickle(at: At): Promise<Figures> {
  await fetch(`${at.receiver}/figures`, { method: 'DELETE' })
  for (let event = 0; event < TRICKLE; event += 1) {
    await emit(at, [(event * 37) % TENANTS])
    await sleep(TRICKLE_MS)
  }
  return await received(at, TRICKLE * (WEBHOOKS_EACH - 1))
}

/** Waits until the healthy endpoints have so many. */
async function received({ receiver }: At, count: number): Promise<Figures> {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    const figures = (await (await fetch(`${receiver}/figures`)).json()) as Figures
    if (figures.count >= count) return figures
    if (performance.now() > deadline) throw new Error(`${figures.count} of ${count} deliveries came`)
    await sleep(100)
  }
}
