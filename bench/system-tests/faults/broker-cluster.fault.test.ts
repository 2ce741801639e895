// Three brokers with three replicas, as in production: any one of them may be killed under load (security 6.3 row 12).
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamName } from '../../../shared/contracts/streams.ts'
import { readDurability } from '../../../shared/log/durability.ts'
import { type IngestSystem, startIngestSystem } from '../../system/ingest-system.ts'
import { startLoad } from '../../system/load.ts'
import { type NatsCluster, startNatsCluster } from '../../system/nats-cluster.ts'
import { randomFrom, runSeed } from '../../system/random.ts'

const seed = runSeed()
let cluster: NatsCluster
let world: IngestSystem
beforeAll(async () => {
  cluster = await startNatsCluster()
  // As processes run that `npm start` does not bring: that this gateway starts says that the production configuration
  // satisfies DURABILITY=strict.
  const env = { NATS_REPLICAS: '3', NATS_MONITOR_URL: cluster.monitorUrl, DURABILITY: 'strict' }
  world = await startIngestSystem({ natsUrl: cluster.url, env })
}, 180_000)
afterAll(async () => {
  await world?.stop()
  await cluster?.stop()
})

const metric = async (name: string): Promise<string | undefined> => {
  const text = await (await fetch(`${world.system.metricsUrl('ingest')}/metrics`)).text()
  return text.split('\n').find(line => line.startsWith(`${name} `))
}

test('each of three brokers killed under load, one after the other: nothing acknowledged is lost, all of it is counted once', async () => {
  const { system, sender, ledger } = world
  expect(await metric('millrace_ingest_ack_durable')).toBe('millrace_ingest_ack_durable 1')
  const monitors = cluster.monitorUrl.split(',')
  const durability = await readDurability(system.jsm, { partitions: system.partitions, monitors })
  expect(durability).toEqual({ replicas: 3, syncAlways: true, notAsked: [] })

  const random = randomFrom(seed)
  const load = startLoad({ sender, random, run: 'cluster' })
  const pausesMs: number[] = []
  for (const server of [0, 1, 2]) {
    await load.accepted(20)
    await cluster.kill(server)
    const killedAt = performance.now()
    // Two of three go on: these are acknowledged while it is dead.
    await load.accepted(40)
    pausesMs.push(Math.round(performance.now() - killedAt))
    await sleep(random.between(0, 1_000))
    await cluster.restart(server)
  }
  await load.accepted(20)
  await load.stop()
  console.log(
    `FAULT_SEED=${seed}: ${ledger.acked} events acknowledged, 40 requests later ${pausesMs} ms after a kill, requests made again ${JSON.stringify(sender.counts.again)}`,
  )
  const beforeResend = await world.reconcile()
  expect(beforeResend.faults).toEqual([])
  expect(beforeResend.counted).toBe(ledger.acked)
  await world.resendEverything()
  expect(await world.reconcile()).toEqual({ ...beforeResend, duplicates: expect.any(Number) })
}, 180_000)

test('a gateway starts while one of three brokers is away, and refuses to when the brokers are not known to sync', async () => {
  const { system } = world
  // The one that leads a partition: its successor has never heard from it.
  const leading = () =>
    system.jsm.streams.info(streamName(0)).then(
      ({ cluster }) => cluster?.leader ?? '',
      () => 'nobody answers',
    )
  // The one before it may still be choosing.
  await expect.poll(leading).toMatch(/-\d$/)
  const victim = Number((await leading()).split('-')[1]) - 1
  await cluster.kill(victim)
  await system.restart('ingest')
  expect(await metric('millrace_ingest_ack_durable')).toBe('millrace_ingest_ack_durable 1')
  await cluster.restart(victim)
  await expect(system.restart('ingest', { NATS_MONITOR_URL: '' })).rejects.toThrow(
    /not safe enough to accept events: it is not known whether every server syncs.*DURABILITY=local/,
  )
}, 120_000)
