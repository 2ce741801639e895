// A Merkle tree as RFC 9162 (2.1) has it, over SHA-256: one hash stands for a list, and a few hashes prove that an entry is in it.
import { hash } from 'node:crypto'

const LEAF = Buffer.of(0)
const NODE = Buffer.of(1)
const sha256 = (...parts: readonly Buffer[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer')

/** The hash of an entry. */
export const leafHash = (entry: Buffer): Buffer => sha256(LEAF, entry)

/** The root over the hashes of entries; of none, the hash of nothing. */
export function rootOf(leaves: readonly Buffer[]): Buffer {
  const [first] = leaves
  if (!first) return sha256()
  return folded(leaves).at(-1)?.[0] ?? first
}

/** The hashes that lead from an entry to the root, from the bottom to the top. Throws RangeError where there is no such entry. */
export function proofOf(leaves: readonly Buffer[], index: number): Buffer[] {
  if (!Number.isSafeInteger(index) || index < 0 || index >= leaves.length)
    throw new RangeError(`no entry ${index} among ${leaves.length}`)
  let place = index
  return folded(leaves)
    .slice(0, -1)
    .flatMap(level => {
      const sibling = level[place % 2 === 0 ? place + 1 : place - 1]
      place = Math.floor(place / 2)
      return sibling ? [sibling] : []
    })
}

/** Every level, from the entries to the root. The last of an odd number stands on the next level as it is. */
function folded(leaves: readonly Buffer[]): (readonly Buffer[])[] {
  const levels: (readonly Buffer[])[] = [leaves]
  for (let level = leaves; level.length > 1; ) {
    const next: Buffer[] = []
    for (let place = 0; place < level.length; place += 2) {
      const [left, right] = [level[place], level[place + 1]]
      if (left) next.push(right ? sha256(NODE, left, right) : left)
    }
    levels.push(next)
    level = next
  }
  return levels
}
