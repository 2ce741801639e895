// How long the disk takes to keep what a commit writes: the limit of every promise about commits.
import { mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const FILE_BYTES = 16 * 1_024 * 1_024
const PAGE_BYTES = 8_192
const PER_SECOND = 300
const MEASURE_MS = 3_000

export type Flushes = { readonly p50Ms: number; readonly p99Ms: number }

/** Writes a page into a file that is there already and has it kept, 300 times a second for three seconds, beside the benchmark's data. */
export async function measureFlushes(): Promise<Flushes> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-flush-'))
  const file = await open(join(folder, 'log'), 'w')
  try {
    await file.write(Buffer.alloc(FILE_BYTES, 1), 0, FILE_BYTES, 0)
    await file.sync()
    const took = (await flushes(file)).sort((left, right) => left - right)
    const at = (share: number): number => took[Math.floor(took.length * share)] ?? 0
    return { p50Ms: at(0.5), p99Ms: at(0.99) }
  } finally {
    await file.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function flushes(file: FileHandle): Promise<number[]> {
  const page = Buffer.alloc(PAGE_BYTES, 2)
  const took: number[] = []
  const start = performance.now()
  for (let turn = 0; performance.now() - start < MEASURE_MS; turn += 1) {
    const due = start + (turn * 1_000) / PER_SECOND
    if (performance.now() < due) await sleep(due - performance.now())
    const before = performance.now()
    await file.write(page, 0, PAGE_BYTES, (turn * PAGE_BYTES) % FILE_BYTES)
    await file.datasync()
    took.push(performance.now() - before)
  }
  return took
}
