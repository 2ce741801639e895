// What the aggregator tells Prometheus.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Counts } from './consume.ts'

export type Metrics = {
  stored(counts: Counts, durationSeconds: number): void
  retried(): void
  rolled(buckets: number): void
  rollRefused(buckets: number): void
  /** What there is to say of a partition this aggregator works. */
  held(partition: number, state: PartitionState): void
  /** Another aggregator works the partition, and reports it. */
  givenUp(partition: number): void
  dirtyBuckets(count: number): void
}

export type PartitionState = {
  readonly messages: number
  readonly seconds: number
  readonly entries: number
  readonly disk: number
  readonly memory: number
}

/** Registers the aggregator's metrics; once per registry. */
export function createMetrics(registry: Registry, partitions: number): Metrics {
  const registers = [registry]
  new Gauge({
    name: 'millrace_aggregator_partitions',
    help: 'Partitions of the usage log, at all aggregators together.',
    registers,
  }).set(partitions)
  const records = new Counter({
    name: 'millrace_aggregator_records_total',
    help: 'Records of the usage log stored, by outcome.',
    labelNames: ['outcome'],
    registers,
  })
  const storeSeconds = new Histogram({
    name: 'millrace_aggregator_store_seconds',
    help: 'Time to store one round in ClickHouse, retries included.',
    buckets: [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 60],
    registers,
  })
  const retries = new Counter({
    name: 'millrace_aggregator_store_retries_total',
    help: 'Statements that ClickHouse refused or did not answer and that were retried.',
    registers,
  })
  const rolledTotal = new Counter({
    name: 'millrace_aggregator_buckets_rolled_total',
    help: 'Buckets recomputed from raw rows.',
    registers,
  })
  const refusedTotal = new Counter({
    name: 'millrace_aggregator_buckets_refused_total',
    help: 'Buckets that ClickHouse refused to recompute, each time it did. Queries read their raw rows.',
    registers,
  })
  const partition = partitionGauges(registers)
  const dirty = new Gauge({
    name: 'millrace_aggregator_dirty_buckets',
    help: 'Buckets that wait to be recomputed.',
    registers,
  })
  return {
    stored(counts, durationSeconds) {
      for (const [outcome, count] of Object.entries(counts)) records.inc({ outcome }, count)
      storeSeconds.observe(durationSeconds)
    },
    retried: () => retries.inc(),
    rolled: buckets => rolledTotal.inc(buckets),
    rollRefused: buckets => refusedTotal.inc(buckets),
    ...partition,
    dirtyBuckets: count => dirty.set(count),
  }
}

function partitionGauges(registers: Registry[]): Pick<Metrics, 'held' | 'givenUp'> {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `millrace_aggregator_${name}`, help, labelNames: ['partition'], registers })
  const held = gauge('partition_held', '1 for each partition this aggregator has the lease of.')
  const messages = gauge('lag_messages', 'Messages of the partition that are not in ClickHouse yet.')
  const seconds = gauge('lag_seconds', 'Age of the last stored message while others wait; 0 when none waits.')
  const entries = gauge('index_entries', 'References in the first-seen index of the partition.')
  const disk = gauge('index_bytes', 'Bytes of the first-seen index of the partition on the disk.')
  const memory = gauge('index_filter_bytes', 'Bytes of memory the filters of the first-seen index hold.')
  return {
    held(partition, state) {
      held.set({ partition }, 1)
      messages.set({ partition }, state.messages)
      seconds.set({ partition }, state.seconds)
      entries.set({ partition }, state.entries)
      disk.set({ partition }, state.disk)
      memory.set({ partition }, state.memory)
    },
    givenUp(partition) {
      for (const each of [held, messages, seconds, entries, disk, memory]) each.remove({ partition })
    },
  }
}
