// What the aggregator tells Prometheus.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Counts } from './consume.ts'

export type Metrics = {
  stored(counts: Counts, durationSeconds: number): void
  retried(): void
  rolled(buckets: number): void
  lag(partition: number, lag: { messages: number; seconds: number }): void
  indexEntries(partition: number, entries: number): void
  dirtyBuckets(count: number): void
}

/** Registers the aggregator's metrics; once per registry. */
export function createMetrics(registry: Registry): Metrics {
  const registers = [registry]
  const records = new Counter({
    name: 'millrace_aggregator_records_total',
    help: 'Records of the usage log stored, by what became of them.',
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
    help: 'Rounds that ClickHouse refused or did not answer and that were stored again.',
    registers,
  })
  const rolledTotal = new Counter({
    name: 'millrace_aggregator_buckets_rolled_total',
    help: 'Buckets recomputed from raw rows.',
    registers,
  })
  const lagMessages = new Gauge({
    name: 'millrace_aggregator_lag_messages',
    help: 'Messages of the partition that are not in ClickHouse yet.',
    labelNames: ['partition'],
    registers,
  })
  const lagSeconds = new Gauge({
    name: 'millrace_aggregator_lag_seconds',
    help: 'Age of the last stored message while others wait; 0 when none waits.',
    labelNames: ['partition'],
    registers,
  })
  const entries = new Gauge({
    name: 'millrace_aggregator_index_entries',
    help: 'References in the first-seen index of the partition.',
    labelNames: ['partition'],
    registers,
  })
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
    lag(partition, { messages, seconds }) {
      lagMessages.set({ partition }, messages)
      lagSeconds.set({ partition }, seconds)
    },
    indexEntries: (partition, count) => entries.set({ partition }, count),
    dirtyBuckets: count => dirty.set(count),
  }
}
