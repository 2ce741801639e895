// Whether everything the log holds is counted once and nothing else is, on a running installation. It reads and never
// repairs; docs/operating.md says what to do about each difference.
import { setTimeout as sleep } from 'node:timers/promises'
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { compareLedger, type LedgerComparison } from '../../api/modules/wallets/ledger/compare-ledger.ts'
import { openDatabase } from '../../shared/database/database.ts'
import { brokerAddress } from '../../shared/log/address.ts'
import { streamState } from '../../shared/log/streams.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { systemClock } from '../../shared/time.ts'
import { type ClickHouseClient, createClickHouse, selectRows } from '../../shared/usage/clickhouse.ts'
import { createFindings, type Findings } from './findings.ts'
import { compareIndex, type IndexCounts } from './index-against-rows.ts'
import { findIndexes, openIndex } from './index-records.ts'
import { compareLog, type LogCounts } from './log-against-rows.ts'
import { compareRollups, countSeries, type RollupCounts } from './rollups-against-rows.ts'

export type ReconcileOptions = {
  /** With the login millrace_worker. */
  readonly databaseUrl: string
  readonly natsUrl: string
  readonly clickhouseUrl: string
  readonly clickhouseDatabase: string
  readonly partitions: number
  /** Where the aggregators of this machine keep their indexes. */
  readonly indexFolder: string
  /** How long what was accepted before the start may take to be stored. */
  readonly waitMs: number
  /** Series whose roll-ups are compared, about; null: all. */
  readonly seriesMax: number | null
  readonly log: (line: string) => void
}
export type PartitionResult = {
  readonly partition: number
  /** Positions the log still holds and that were compared. */
  readonly from: number
  readonly to: number
  readonly counts: LogCounts
  /** One for each index found here. */
  readonly indexes: readonly (IndexCounts & { readonly directory: string; readonly upTo: number })[]
}
export type Reconciliation = {
  readonly partitions: readonly PartitionResult[]
  readonly rollups: RollupCounts
  readonly wallets: Omit<LedgerComparison, 'differences'>
  readonly findings: Findings
}
type Deps = {
  readonly js: JetStreamClient
  readonly jsm: JetStreamManager
  readonly client: ClickHouseClient
  readonly findings: Findings
  readonly options: ReconcileOptions
}

const POLL_MS = 250

/** Reads everything once. Throws when a part cannot be reached; differences are findings. */
export async function reconcileInstallation(options: ReconcileOptions): Promise<Reconciliation> {
  const nats = await connect({ ...brokerAddress(options.natsUrl), name: 'millrace-reconcile' })
  const client = createClickHouse(options.clickhouseUrl, options.clickhouseDatabase)
  const findings = createFindings()
  try {
    const deps: Deps = { js: jetstream(nats), jsm: await jetstreamManager(nats), client, findings, options }
    const positions = await waitForPositions(deps)
    const partitions: PartitionResult[] = []
    for (const [partition, to] of positions) partitions.push(await comparePartition(deps, partition, to))
    await findBeyond(deps)
    const oneIn = options.seriesMax === null ? 1 : Math.ceil((await countSeries(client)) / options.seriesMax)
    options.log(`Comparing roll-ups with raw rows${oneIn > 1 ? `, one series in ${oneIn}` : ''}`)
    const seed = Math.floor(Math.random() * 2 ** 32)
    const rollups = await compareRollups(client, { oneIn: Math.max(1, oneIn), seed }, findings)
    const wallets = await compareWallets(options, findings)
    return { partitions, rollups, wallets, findings }
  } finally {
    await client.close()
    await nats.close()
  }
}

async function compareWallets({ databaseUrl, log }: ReconcileOptions, findings: Findings): Promise<LedgerComparison> {
  log('Comparing the accounts of wallets with their entries')
  const database = await openDatabase({
    url: databaseUrl,
    role: 'millrace_worker',
    clock: systemClock,
    logger: silentLogger,
    poolMax: 1,
  })
  try {
    const found = await compareLedger(database)
    for (const difference of found.differences) findings.add('WALLET_DIFFERS', difference)
    if (found.sum !== '0') findings.add('WALLETS_NOT_ZERO', `they sum to ${found.sum}`)
    return found
  } finally {
    await database.close()
  }
}

/** How far each partition is stored; BEHIND for one that does not get to where the log stood at the start. */
async function waitForPositions({ jsm, client, findings, options }: Deps): Promise<Map<number, number>> {
  const ends = new Map<number, number>()
  for (let partition = 0; partition < options.partitions; partition += 1)
    ends.set(partition, (await streamState(jsm, partition)).lastSeq)
  const deadline = performance.now() + options.waitMs
  for (;;) {
    const rows = await selectRows<[number, string]>(client, 'SELECT log_partition, log_seq FROM usage_positions FINAL')
    const stored = new Map(rows.map(([partition, seq]) => [partition, Number(seq)]))
    const behind = [...ends].filter(([partition, end]) => (stored.get(partition) ?? 0) < end)
    if (behind.length === 0 || performance.now() > deadline) {
      for (const [partition, end] of behind)
        findings.add('BEHIND', `partition ${partition}: stored up to ${stored.get(partition) ?? 0} of ${end} messages`)
      return new Map([...ends.keys()].map(partition => [partition, stored.get(partition) ?? 0]))
    }
    await sleep(POLL_MS)
  }
}

async function comparePartition(deps: Deps, partition: number, to: number): Promise<PartitionResult> {
  const { js, jsm, client, findings, options } = deps
  const { firstSeq } = await streamState(jsm, partition)
  const from = Math.max(1, firstSeq)
  options.log(`Comparing partition ${partition}, messages ${from} to ${to}, with its rows`)
  const counts = await compareLog({ js, client, findings }, { partition, partitions: options.partitions }, { from, to })
  const indexes: PartitionResult['indexes'][number][] = []
  for (const found of findIndexes(options.indexFolder).filter(each => each.partition === partition)) {
    const index = await openIndex(found)
    if (index === null) continue
    try {
      // One that another aggregator has gone on from is compared as far as it goes.
      const upTo = Math.min(to, index.position.seq)
      options.log(`Comparing partition ${partition}'s index, up to message ${upTo}, with its rows`)
      const compared = await compareIndex({ client, partition, upTo }, index, findings)
      indexes.push({ ...compared, directory: found.directory, upTo })
    } finally {
      await index.close()
    }
  }
  return { partition, from, to, counts, indexes }
}

const BEYOND_MAX = 1_000

/** Rows that claim to come from where the log has not been yet, or from a partition it does not have. */
async function findBeyond({ jsm, client, findings, options }: Deps): Promise<void> {
  for (const table of ['usage_events', 'usage_duplicates']) {
    const [found, params] = [`SELECT log_partition, log_seq, reference FROM ${table} WHERE`, { max: BEYOND_MAX }]
    const none = await selectRows<[number, string, string]>(
      client,
      `${found} log_partition >= {partitions:UInt16} LIMIT {max:UInt32}`,
      { ...params, partitions: options.partitions },
    )
    const beyond = [...none]
    for (let partition = 0; partition < options.partitions; partition += 1) {
      // Rows first, then the end of the log: what is written between the two is in the log by then.
      const { lastSeq: end } = await streamState(jsm, partition)
      const sql = `${found} log_partition = {partition:UInt16} AND log_seq > {end:UInt64} LIMIT {max:UInt32}`
      const rows = await selectRows<[number, string, string]>(client, sql, { ...params, partition, end })
      const { lastSeq } = rows.length > 0 ? await streamState(jsm, partition) : { lastSeq: end }
      beyond.push(...rows.filter(([, seq]) => Number(seq) > lastSeq))
    }
    for (const [partition, seq, reference] of beyond)
      findings.add(
        'NOT_IN_LOG',
        `partition ${partition}, message ${seq}: reference ${JSON.stringify(reference)} in ${table}`,
      )
  }
}
