// The whole path of an event in one process: real gateways' publishers and real aggregators, with the broker, ClickHouse, the
// disks and the leases simulated.
import { join } from 'node:path'
import { type Aggregator, startAggregator } from '../../../aggregator/aggregator.ts'
import type { DiskIndex } from '../../../aggregator/index/first-seen-index.ts'
import type { IndexFolder } from '../../../aggregator/index/folder.ts'
import type { Metrics } from '../../../aggregator/metrics.ts'
import { createPublisher, type Publisher } from '../../../ingest/events/publish.ts'
import { createRecentEvents } from '../../../ingest/events/repeats/recent.ts'
import type { Later } from '../../../ingest/later.ts'
import { openUsageLog } from '../../../ingest/log/usage-log.ts'
import { silentLogger } from '../../../shared/process/logger.ts'
import { type Clock, instantOf } from '../../../shared/time.ts'
import type { ClickHouseClient } from '../../../shared/usage/clickhouse.ts'
import { type Broker, createBroker, type SimulatedConnection } from './broker.ts'
import { type Checker, createChecker } from './check.ts'
import { clientOf } from './clickhouse.ts'
import { createLeases, type Leases } from './leases.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { type Disk, openMemoryIndex } from './memory-index.ts'
import type { Sabotage, Tampering } from './sabotage.ts'
import { createTables, type Tables } from './tables.ts'
import { CALM, InjectedFault, type Life, type World } from './world.ts'

export const PARTITIONS = 3
/** Half a minute before the end of the last hour that has events (clients.ts): it runs at first, and the others are over. */
const START_MS = Date.UTC(2026, 0, 15, 4, 59, 30)
/** Small, so that messages are cut and the queue is full now and then. */
const MESSAGE_BYTES_MAX = 1_200
const QUEUE_BYTES_MAX = 6_000
const RECENT_MAX = 64

export type Gateway = { life: Life; publisher: Publisher | null }
export type System = {
  readonly world: World
  readonly broker: Broker
  readonly tables: Tables
  readonly ledger: Ledger
  readonly checker: Checker
  readonly leases: Leases
  readonly sabotage: Sabotage
  readonly clock: Clock
  readonly gateways: Gateway[]
  readonly workers: Worker[]
  /** False in quiet phases: whoever starts then lives on. */
  stormy: boolean
  /** What `claimIndexFolder` gives for the folder of a worker. */
  folder(directory: string): IndexFolder
  /** What `openFirstSeenIndex` gives for a path in the folder of a worker. */
  index(path: string): Promise<DiskIndex>
  /** What `connect` gives the process whose step it is. */
  connection(life?: Life): SimulatedConnection
}
type Worker = { readonly name: string; readonly disk: Disk; life: Life; earlier: Disk }

export function createSystem(world: World, sabotage: Sabotage): System {
  const broker = createBroker(world, PARTITIONS)
  const tables = createTables()
  const checker = createChecker(broker, tables)
  tables.onPosition = checker.position
  tables.onProgress = checker.listed
  const { random } = world
  const nobody = world.newLife('nobody', 0, () => undefined)
  const system: System = {
    world,
    broker,
    tables,
    checker,
    sabotage,
    ledger: createLedger(),
    leases: createLeases(world),
    clock: { now: () => instantOf(START_MS + world.nowMs) },
    gateways: Array.from({ length: random.between(1, 3) }, () => ({ life: nobody, publisher: null })),
    workers: Array.from({ length: random.between(1, 4) }, (_, index) => ({
      name: `worker-${index}`,
      disk: new Map(),
      life: nobody,
      earlier: new Map(),
    })),
    stormy: true,
    folder: directory => folderOf(system, directory),
    index: path => indexAt(system, path),
    connection(life = world.current ?? nobody) {
      return broker.connectionOf(life)
    },
  }
  return system
}

export function startAll(system: System): void {
  for (const gateway of system.gateways) startGateway(system, gateway)
  for (const worker of system.workers) startWorker(system, worker)
}

/** No fault comes any more; whoever sleeps wakes up. */
export function calmDown(system: System): void {
  const { world } = system
  system.stormy = false
  world.weather = CALM
  system.broker.downUntil = 0
  for (const { life } of [...system.gateways, ...system.workers]) {
    life.fuse = Number.POSITIVE_INFINITY
    life.pausedUntil = 0
  }
}

export const fuseOf = ({ world: { random }, stormy }: System): number =>
  stormy ? random.below(random.pick([60, 300, 1_500])) : Number.POSITIVE_INFINITY
const restMs = ({ world: { random } }: System): number => random.between(20, random.pick([300, 9_000]))

function startGateway(system: System, gateway: Gateway): void {
  const { world, sabotage } = system
  const again = () => {
    gateway.publisher = null
    world.later(restMs(system), () => startGateway(system, gateway))
  }
  const life = world.newLife('gateway', fuseOf(system), again)
  gateway.life = life
  const later: Later = (task, ms) => laterUnlessCancelled(task, run => world.deliver(life, ms, run))
  world.deliver(life, 0, () => {
    const opened = openUsageLog({
      url: 'nats://simulated:4222',
      partitions: PARTITIONS,
      replicas: 1,
      failpoint: () => world.pass(life),
      logger: silentLogger,
      later,
    })
    const recent = createRecentEvents(RECENT_MAX)
    opened.then(
      log => {
        gateway.publisher = createPublisher({
          partitions: PARTITIONS,
          recent: sabotage.recent?.(recent) ?? recent,
          publish: sabotage.publish?.(log.publish) ?? log.publish,
          defer: task => world.deliver(life, 0, task),
          later,
          nowMs: () => world.nowMs,
          messageBytesMax: MESSAGE_BYTES_MAX,
          bytesMax: QUEUE_BYTES_MAX,
        })
      },
      error => endedBy(system, life, error),
    )
  })
}

/** Plans `task` and returns what takes it back; the world itself takes nothing back. */
function laterUnlessCancelled(task: () => void, plan: (task: () => void) => void): () => void {
  let isWanted = true
  plan(() => {
    if (isWanted) task()
  })
  return () => {
    isWanted = false
  }
}

function startWorker(system: System, worker: Worker): void {
  const { world, leases, clock } = system
  const life = world.newLife(worker.name, fuseOf(system), () =>
    world.later(restMs(system), () => {
      if (system.stormy) harm(world, worker)
      startWorker(system, worker)
    }),
  )
  worker.life = life
  world.deliver(life, 0, () => {
    const started = startAggregator({
      nats: system.connection(life),
      client: clientFor(system, life),
      clock,
      logger: silentLogger,
      metrics: NO_METRICS,
      failpoints: () => world.pass(life),
      partitions: PARTITIONS,
      replicas: 1,
      indexDirectory: worker.name,
      // Now and then one that believes to be alone: every partition then has two owners.
      leases: leases.storeOf(life, system.stormy && world.chance(8)),
    })
    started.then(
      aggregator => live(system, life, aggregator),
      error => endedBy(system, life, error),
    )
  })
}

/** It ends by itself only when it was asked to; a worker of a stormy time is asked now and then. */
function live(system: System, life: Life, aggregator: Aggregator): void {
  let asked = false
  aggregator.done.then(
    () => (asked ? system.world.kill(life) : system.world.fail(new Error(`${life.name} ended unasked`))),
    error => system.world.fail(error),
  )
  if (!system.stormy || !system.world.chance(4)) return
  system.world.deliver(life, system.world.random.below(20_000), () => {
    asked = true
    void aggregator.stop()
  })
}

function endedBy({ world }: System, life: Life, error: unknown): void {
  if (error instanceof InjectedFault) world.kill(life)
  else world.fail(error)
}

/** What may happen to a disk between two lives: it is lost, or put back from an earlier day. */
function harm({ random }: World, worker: Worker): void {
  const { disk, earlier } = worker
  switch (random.below(10)) {
    case 0:
      disk.clear()
      return
    case 1: {
      disk.clear()
      for (const [path, file] of earlier) disk.set(path, file)
      return
    }
    case 2:
      worker.earlier = new Map(disk)
  }
}

function clientFor({ world, tables, sabotage }: System, life: Life): ClickHouseClient {
  const tampering: Tampering = {
    tombstoneVersion: version => version,
    rollupsAdd: false,
    rollupsCoverLate: false,
    copied: records => records,
    ...sabotage.tampering,
  }
  return clientOf(world, life, tables, tampering)
}

function folderOf({ workers }: System, directory: string): IndexFolder {
  const worker = workers.find(({ name }) => name === directory)
  if (worker === undefined) throw new Error(`no worker ${directory}`)
  const indexed = () => [...worker.disk.keys()].map(path => Number(path.split('-').at(-1)))
  return { id: worker.name, indexed, release: () => undefined }
}

async function indexAt(system: System, path: string): Promise<DiskIndex> {
  const { world, workers, checker, sabotage } = system
  const worker = workers.find(({ name }) => path.startsWith(join(name, '/')))
  if (worker === undefined) throw new Error(`no worker has ${path}`)
  const { life, disk } = worker
  await world.pass(life)
  const partition = Number(path.split('-').at(-1))
  const index = openMemoryIndex({ world, life, disk }, path, ({ seq }) => checker.committed(partition, seq))
  return sabotage.index?.(index) ?? index
}

const NO_METRICS: Metrics = {
  stored: () => undefined,
  retried: () => undefined,
  rolled: () => undefined,
  rollRefused: () => undefined,
  held: () => undefined,
  givenUp: () => undefined,
  dirtyBuckets: () => undefined,
}
