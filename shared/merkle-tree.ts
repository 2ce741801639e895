// A Merkle tree as RFC 9162 (2.1) has it, over SHA-256: one hash stands for a list, and a few hashes prove that an entry is in it.
// Of a list of any length it holds no more than a hash for each doubling of it.
import { hash } from 'node:crypto'

const HASH_BYTES = 32

/** Both hashes behind the byte that marks a node; filled anew for each. */
const NODE = Buffer.alloc(1 + 2 * HASH_BYTES, 1)

function nodeHash(left: Buffer, right: Buffer): Buffer {
  left.copy(NODE, 1)
  right.copy(NODE, 1 + HASH_BYTES)
  return hash('sha256', NODE, 'buffer')
}

/** A whole subtree: of 1, 2, 4 … entries, except at the end. */
type Subtree = { readonly size: number; readonly hash: Buffer; readonly isProven: boolean }

export type MerkleTree = {
  /** Adds the hash of the next entry: of the byte 0 and the entry. `isProven`: the proof is to lead to this one. Throws Error for a second such entry. */
  add(leaf: Buffer, isProven?: boolean): void
  /** Ends the list. Of no entries, the root is the hash of nothing. */
  end(): {
    readonly root: Buffer
    readonly size: number
    /** Where the entry is, and the hashes that lead from it to the root, from the bottom to the top; null when none was marked. */
    readonly proof: { readonly index: number; readonly hashes: readonly Buffer[] } | null
  }
}

/** A tree whose entries are given one after the other. */
export function merkleTree(): MerkleTree {
  const subtrees: Subtree[] = []
  const hashes: Buffer[] = []
  let size = 0
  let index: number | null = null
  const joined = (left: Subtree, right: Subtree): Subtree => {
    if (left.isProven) hashes.push(right.hash)
    if (right.isProven) hashes.push(left.hash)
    return {
      size: left.size + right.size,
      hash: nodeHash(left.hash, right.hash),
      isProven: left.isProven || right.isProven,
    }
  }
  return {
    add: (leaf, isProven = false) => {
      if (isProven) {
        if (index !== null) throw new Error(`a proof of the entries ${index} and ${size}`)
        index = size
      }
      size += 1
      let last: Subtree = { size: 1, hash: leaf, isProven }
      for (let before = subtrees.at(-1); before?.size === last.size; before = subtrees.at(-1)) {
        subtrees.pop()
        last = joined(before, last)
      }
      subtrees.push(last)
    },
    end: () => {
      const [first, ...others] = subtrees.toReversed()
      if (!first) return { root: hash('sha256', '', 'buffer'), size, proof: null }
      const whole = others.reduce((right, left) => joined(left, right), first)
      return { root: whole.hash, size, proof: index === null ? null : { index, hashes } }
    },
  }
}
