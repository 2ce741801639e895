// Aggregators as processes, stopped, killed and put to sleep while they share a log: partitions move, and nothing shows.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTestAggregator, deleteLineOf, eventLineOf, type TestAggregator } from '../../../aggregator/testing.ts'
import { freePort } from '../../../infra/services/child.ts'
import { nodeArgs } from '../../../infra/services/project.ts'
import { ensureStreams } from '../../../shared/log/streams.ts'
import { createTestClickHouse, type TestClickHouse } from '../../../shared/testing/clickhouse.ts'
import { type FaultProxy, startFaultProxy } from '../../../shared/testing/fault-proxy.ts'
import { startTestNats, type TestNats } from '../../../shared/testing/nats.ts'

const PARTITIONS = 4
/** A lease, a turn, and what a loaded machine needs to look at it. */
const MOVES_WITHIN_MS = 120_000
let clickhouse: TestClickHouse
let server: TestNats
let world: TestAggregator
let proxy: FaultProxy
let away = false
let dataDir: string
const started: Aggregator[] = []

type Aggregator = { readonly child: ChildProcess; readonly url: string }

beforeEach(async () => {
  away = false
  clickhouse = await createTestClickHouse()
  proxy = await startFaultProxy(clickhouse.url, () => (away ? 'refuse' : 'none'))
  server = await startTestNats()
  world = await createTestAggregator({ natsUrl: server.url, clickhouse, partitions: PARTITIONS })
  await ensureStreams(await jetstreamManager(world.nats), { partitions: PARTITIONS, replicas: 1 })
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-leases-'))
})
afterEach(async () => {
  for (const { child } of started.splice(0)) await end(child, 'SIGKILL')
  await world.close()
  await proxy.close()
  await server.stop()
  await clickhouse.drop()
  rmSync(dataDir, { recursive: true })
})

/** All of them have one DATA_DIR, as several on one machine would. */
async function start(): Promise<Aggregator> {
  const port = await freePort()
  const child = spawn(process.execPath, nodeArgs('aggregator/main'), {
    env: {
      ...process.env,
      PORT: String(port),
      DATA_DIR: dataDir,
      NATS_URL: server.url,
      PARTITIONS: String(PARTITIONS),
      CLICKHOUSE_URL: proxy.url,
      CLICKHOUSE_DATABASE: clickhouse.database,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const aggregator = { child, url: `http://127.0.0.1:${port}` }
  started.push(aggregator)
  await expect.poll(() => status(aggregator), { timeout: MOVES_WITHIN_MS }).toBe(200)
  return aggregator
}

const status = ({ url }: Aggregator): Promise<number> =>
  fetch(`${url}/health/ready`).then(
    answer => answer.status,
    () => 0,
  )

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill(signal)
  await ended
}

async function metric({ url }: Aggregator, name: string): Promise<Map<number, number>> {
  const text = await fetch(`${url}/metrics`).then(answer => answer.text())
  return new Map(
    [...text.matchAll(new RegExp(`^millrace_aggregator_${name}\\{partition="(\\d+)"\\} ([\\d.e+]+)$`, 'gm'))].map(
      ([, partition, value]) => [Number(partition), Number(value)],
    ),
  )
}
const held = async (aggregator: Aggregator): Promise<number[]> => [
  ...(await metric(aggregator, 'partition_held')).keys(),
]
const eventually = <T>(look: () => Promise<T>) => expect.poll(look, { timeout: MOVES_WITHIN_MS, interval: 250 })

const events = (from: number, to: number, quantity = '1') =>
  Array.from({ length: to - from }, (_, at) => eventLineOf({ reference: `e-${from + at}`, quantity }))
const COUNTED =
  'SELECT count(), uniqExact(reference), toString(sum(value_quantities[1])) FROM usage_events FINAL WHERE deleted = 0'
const DUPLICATES = 'SELECT count() FROM usage_duplicates FINAL'

/** New events and a repeat of each, call after call until told to stop. Resolves with how many were sent new. */
function keepSending(): { stop(): Promise<number> } {
  let going = true
  const sent = (async () => {
    let count = 0
    for (; going; count += 50) {
      await world.publish(events(count, count + 50))
      await world.publish(events(count, count + 50, '3'))
      await sleep(50)
    }
    return count
  })()
  return {
    stop: () => {
      going = false
      return sent
    },
  }
}
async function expectExact(sent: number): Promise<void> {
  await world.settle()
  expect(await world.rows(COUNTED)).toEqual([[String(sent), String(sent), String(sent)]])
  expect(await world.rows(DUPLICATES)).toEqual([[String(sent)]])
  expect(await world.rows('SELECT count() FROM usage_dead_letters FINAL')).toEqual([['0']])
}

test('partitions move to one that comes, from one that stops and from one that is killed, while events come in', async () => {
  const sending = keepSending()
  const first = await start()
  const second = await start()
  await eventually(async () => [(await held(first)).length, (await held(second)).length]).toEqual([2, 2])
  await end(first.child, 'SIGTERM')
  expect(first.child.exitCode).toBe(0)
  await eventually(async () => (await held(second)).length).toBe(4)
  const third = await start()
  await eventually(async () => (await held(third)).length).toBe(2)
  await end(second.child, 'SIGKILL')
  await eventually(async () => (await held(third)).length).toBe(4)
  await expectExact(await sending.stop())
}, 300_000)

test('one put to sleep past its lease with rows in its hands wakes up beside its successor: every sum stays exact', async () => {
  const first = await start()
  await world.publish(events(0, 200))
  await world.settle()
  // Rounds are read, claimed and refused by ClickHouse: the sleeper will store them when it wakes.
  away = true
  await world.publish([...events(0, 200, '5'), ...events(200, 400)])
  await sleep(500)
  first.child.kill('SIGSTOP')
  away = false
  const second = await start()
  await eventually(async () => (await held(second)).length).toBe(4)
  await world.settle()
  // The successor goes on: what the sleeper holds is deleted and repeated meanwhile.
  await world.publish([deleteLineOf({ reference: 'e-300' }), ...events(0, 400, '9')])
  await world.settle()
  first.child.kill('SIGCONT')
  const sending = events(400, 600)
  for (let at = 0; at < sending.length; at += 20) await world.publish(sending.slice(at, at + 20))
  await eventually(async () => [(await held(first)).length, (await held(second)).length]).toEqual([2, 2])
  await world.settle()
  expect(await world.rows(COUNTED)).toEqual([['599', '599', '599']])
  expect(await world.rows(DUPLICATES)).toEqual([['600']])
  expect(await world.rows('SELECT count() FROM usage_dead_letters FINAL')).toEqual([['0']])
  expect(first.child.exitCode).toBeNull()
}, 300_000)

test('while ClickHouse is away memory is bounded, lag is shown, and all of it drains after', async () => {
  const one = await start()
  await world.publish(events(0, 10))
  await world.settle()
  const residentMB = () =>
    Number(execFileSync('ps', ['-o', 'rss=', '-p', String(one.child.pid)], { encoding: 'utf8' })) / 1_024
  const before = residentMB()
  away = true
  // Some 90 MB of events, each with a long property; a process that read on would hold several times as much.
  const padding = 'x'.repeat(1_000)
  let sent = 10
  for (; sent < 80_010; sent += 1_000) {
    await world.publish(
      Array.from({ length: 1_000 }, (_, at) =>
        eventLineOf({ reference: `e-${sent + at}`, properties: { padding: `${padding}${at}` } }),
      ),
    )
  }
  await eventually(async () => Math.min(...(await metric(one, 'lag_messages')).values())).toBeGreaterThan(10)
  await eventually(async () => Math.min(...(await metric(one, 'lag_seconds')).values())).toBeGreaterThan(0)
  expect(await status(one)).toBe(503)
  expect(residentMB() - before).toBeLessThan(250)
  away = false
  await world.settle()
  expect(await world.rows(COUNTED)).toEqual([[String(sent), String(sent), String(sent)]])
  await eventually(async () => Math.max(...(await metric(one, 'lag_messages')).values())).toBe(0)
  expect(await status(one)).toBe(200)
}, 300_000)
