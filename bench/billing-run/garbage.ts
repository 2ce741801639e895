// Loaded into a process before its own code: counts the bytes that it puts on its heap, and how often that is cleared. Other load on the
// machine changes neither, so these figures of different days can be compared. Writes the sums to GARBAGE_FILE.
import { renameSync, writeFileSync } from 'node:fs'
import { GCProfiler, getHeapStatistics } from 'node:v8'

const INTERVAL_MS = 2_000

const file = process.env['GARBAGE_FILE'] ?? ''
let after = getHeapStatistics().used_heap_size
let bytes = 0
let collections = 0
let profiler = new GCProfiler()
profiler.start()

function write(): void {
  const { statistics } = profiler.stop()
  profiler = new GCProfiler()
  profiler.start()
  for (const { beforeGC, afterGC } of statistics) {
    bytes += beforeGC.heapStatistics.usedHeapSize - after
    after = afterGC.heapStatistics.usedHeapSize
    collections += 1
  }
  writeFileSync(`${file}.next`, JSON.stringify({ bytes, collections }))
  renameSync(`${file}.next`, file)
}
if (file !== '') setInterval(write, INTERVAL_MS).unref()
