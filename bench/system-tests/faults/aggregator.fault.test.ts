// kill -9 at every named point, repeated kills under load, and ClickHouse away: every event counted exactly once.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { describe, expect, test } from 'vitest'
import { migrateClickHouse } from '../../../aggregator/clickhouse/migrate.ts'
import { createTestAggregator, deleteLineOf, eventLineOf, type TestAggregator } from '../../../aggregator/testing.ts'
import { freePort } from '../../../infra/services/child.ts'
import { startClickHouse } from '../../../infra/services/clickhouse.ts'
import { nodeArgs } from '../../../infra/services/project.ts'
import { ensureStreams } from '../../../shared/log/streams.ts'
import { createTestClickHouse } from '../../../shared/testing/clickhouse.ts'
import { startTestNats } from '../../../shared/testing/nats.ts'

type World = {
  readonly aggregator: TestAggregator
  readonly health: string
  /** Starts the real process. */
  start(failpoint?: string): ChildProcess
}
type Address = { url: string; database: string }

async function withWorld(clickhouse: Address, work: (world: World) => Promise<void>): Promise<void> {
  const server = await startTestNats()
  const aggregator = await createTestAggregator({ natsUrl: server.url, clickhouse })
  const port = await freePort()
  const children: ChildProcess[] = []
  try {
    await work({
      aggregator,
      health: `http://127.0.0.1:${port}`,
      start(failpoint = '') {
        const child = spawn(process.execPath, nodeArgs('aggregator/main'), {
          env: {
            ...process.env,
            PORT: String(port),
            DATA_DIR: aggregator.indexDirectory,
            NATS_URL: server.url,
            PARTITIONS: String(aggregator.partitions),
            CLICKHOUSE_URL: clickhouse.url,
            CLICKHOUSE_DATABASE: clickhouse.database,
            LOG_LEVEL: 'error',
            FAILPOINT: failpoint,
          },
          stdio: ['ignore', 'ignore', 'inherit'],
        })
        children.push(child)
        return child
      },
    })
  } finally {
    for (const child of children) await end(child, 'SIGKILL')
    await aggregator.close()
    await server.stop()
  }
}

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise(resolve => child.once('exit', () => resolve()))

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal)
  await ended(child)
}

const COUNTED =
  'SELECT count(), uniqExact(reference), toString(sum(value_quantities[1])) FROM usage_events FINAL WHERE deleted = 0'
const DUPLICATES = 'SELECT count() FROM usage_duplicates FINAL'
const events = (count: number, prefix = 'e', quantity = '1') =>
  Array.from({ length: count }, (_, index) => eventLineOf({ reference: `${prefix}-${index}`, quantity }))

const POINTS = [
  'aggregator.after-fetch',
  'aggregator.after-index',
  'aggregator.before-insert',
  'aggregator.after-insert',
  'aggregator.after-marks',
  'aggregator.after-positions',
]

describe('the aggregator killed with -9', () => {
  test.each(POINTS)('at %s counts every event once', async point => {
    const clickhouse = await createTestClickHouse()
    await withWorld(clickhouse, async ({ aggregator, start }) => {
      const dying = start(`${point}:kill`)
      await publishFirst(aggregator, events(40))
      await ended(dying)
      expect(dying.signalCode).toBe('SIGKILL')
      await aggregator.publish([...events(10, 'e', '5'), deleteLineOf({ reference: 'e-7' })])
      // Killed again at the same point, with the index it left behind.
      const dyingAgain = start(`${point}:kill`)
      await ended(dyingAgain)
      start()
      await aggregator.settle()
      expect(await aggregator.rows(COUNTED)).toEqual([['39', '39', '39']])
      expect(await aggregator.rows(DUPLICATES)).toEqual([['10']])
      expect(await aggregator.rows('SELECT count() FROM usage_dead_letters')).toEqual([['0']])
    })
    await clickhouse.drop()
  })

  test('again and again under load counts every event once, and stops in order when asked', async () => {
    const clickhouse = await createTestClickHouse()
    await withWorld(clickhouse, async ({ aggregator, health, start }) => {
      let child = start()
      await publishFirst(aggregator, events(1, 'first'))
      for (let round = 0; round < 6; round += 1) {
        const publishing = (async () => {
          for (let call = 0; call < 30; call += 1) {
            const lines = events(50, `r${round}-c${call}`)
            await aggregator.publish(lines)
            if (call % 3 === 0) await aggregator.publish(lines)
          }
        })()
        await sleep(150 + 170 * round)
        await end(child, 'SIGKILL')
        child = start()
        await publishing
      }
      await aggregator.settle()
      expect(await aggregator.rows(COUNTED)).toEqual([['9001', '9001', '9001']])
      expect(await aggregator.rows(DUPLICATES)).toEqual([['3000']])
      // All may have been stored before the last kill, and its successor may still be starting.
      const metrics = () =>
        fetch(`${health}/metrics`)
          .then(answer => answer.text())
          .catch(() => '')
      await expect.poll(metrics).toContain('millrace_aggregator_lag_messages')
      await end(child, 'SIGTERM')
      expect(child.exitCode).toBe(0)
    })
    await clickhouse.drop()
  })
})

test('ClickHouse away: events go on being accepted, readiness says so, and all of it is stored when it is back', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-away-'))
  const options = { dataDir, port: await freePort(), log: () => {} }
  let service = await startClickHouse(options)
  try {
    const clickhouse = { url: service.url, database: 'away' }
    await migrateClickHouse(clickhouse.url, clickhouse.database)
    await withWorld(clickhouse, async ({ aggregator, health, start }) => {
      const child = start()
      await publishFirst(aggregator, events(10))
      await aggregator.settle()
      await service.child.kill()
      await aggregator.publish(events(100, 'meanwhile'))
      await aggregator.publish(events(100, 'meanwhile'))
      const readiness = async () => {
        const answer = await fetch(`${health}/health/ready`)
        return `${answer.status} ${await answer.text()}`
      }
      await expect.poll(readiness).toMatch(/^503 .*ClickHouse/s)
      expect(child.exitCode).toBeNull()
      service = await startClickHouse(options)
      await aggregator.settle()
      expect(await aggregator.rows(COUNTED)).toEqual([['110', '110', '110']])
      expect(await aggregator.rows(DUPLICATES)).toEqual([['100']])
    })
  } finally {
    await service.stop()
    rmSync(dataDir, { recursive: true })
  }
})

/** Publishes the first events: whichever of the gateway and the aggregator starts first makes the streams. */
async function publishFirst(aggregator: TestAggregator, lines: { line: string; idHash: string }[]): Promise<void> {
  await ensureStreams(await jetstreamManager(aggregator.nats), { partitions: aggregator.partitions, replicas: 1 })
  await aggregator.publish(lines)
}
