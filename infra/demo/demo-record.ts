// What the demo showed, kept in DATA_DIR: it runs once, and later starts show what it printed then.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type DemoRecord = {
  /** The platforms it ran on: those of another database have seen nothing of it. */
  readonly platformIds: readonly string[]
  readonly finishedAt: string
  readonly lines: readonly string[]
}

const FILE = 'demo.json'

/** The record of a demo that worked; null when there is none, or it is not whole. */
export function readDemoRecord(dataDir: string): DemoRecord | null {
  try {
    const { platformIds, finishedAt, lines } = JSON.parse(
      readFileSync(join(dataDir, FILE), 'utf8'),
    ) as Partial<DemoRecord>
    return platformIds && finishedAt !== undefined && lines ? { platformIds, finishedAt, lines } : null
  } catch {
    return null
  }
}

/** Stores the record of a demo that worked. */
export function writeDemoRecord(dataDir: string, record: DemoRecord): void {
  const file = join(dataDir, FILE)
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`)
  renameSync(draft, file)
}
