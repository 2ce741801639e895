// The first-seen indexes on this machine's disk, read beside a running aggregator.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type IndexSnapshot, readIndex } from '../../aggregator/index/read-index.ts'

export type FoundIndex = { readonly partition: number; readonly directory: string }

const PARTITION = /^partition-([0-9]+)$/

/** Every index below `folder`, at most two levels deep: an aggregator may keep its own apart from another's. */
export function findIndexes(folder: string): FoundIndex[] {
  if (!existsSync(folder)) return []
  const below = (parent: string): string[] =>
    readdirSync(parent, { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .map(entry => join(parent, entry.name))
  const found: FoundIndex[] = []
  for (const directory of below(folder).flatMap(each => [each, ...below(each)])) {
    const name = PARTITION.exec(directory.split(/[\\/]/).at(-1) ?? '')
    if (name) found.push({ partition: Number(name[1]), directory })
  }
  return found.sort((a, b) => a.partition - b.partition)
}

/** Opens one; null when it holds nothing yet. */
export const openIndex = ({ directory }: FoundIndex): Promise<IndexSnapshot | null> => readIndex(directory)
