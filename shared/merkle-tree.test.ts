import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { merkleTree } from './merkle-tree.ts'

const sha256 = (...parts: Buffer[]): Buffer => hash('sha256', Buffer.concat(parts), 'buffer')

const leafHash = (entry: Buffer): Buffer => sha256(Buffer.of(0), entry)

/** The definition of RFC 9162, 2.1.1: split at the largest power of two that is smaller than the number of entries. */
function defined(entries: readonly Buffer[]): Buffer {
  const [only] = entries
  if (!only) return sha256()
  if (entries.length === 1) return sha256(Buffer.of(0), only)
  let half = 1
  while (half * 2 < entries.length) half *= 2
  return sha256(Buffer.of(1), defined(entries.slice(0, half)), defined(entries.slice(half)))
}

/** The check of RFC 9162, 2.1.3.2. */
function isProven(of: { leaf: Buffer; index: number; size: number; proof: readonly Buffer[]; root: Buffer }): boolean {
  let [place, last, found] = [of.index, of.size - 1, of.leaf]
  for (const sibling of of.proof) {
    if (last === 0) return false
    if (place % 2 === 1 || place === last) {
      found = sha256(Buffer.of(1), sibling, found)
      while (place % 2 === 0 && place !== 0) [place, last] = [place >> 1, last >> 1]
    } else found = sha256(Buffer.of(1), found, sibling)
    ;[place, last] = [place >> 1, last >> 1]
  }
  return last === 0 && found.equals(of.root)
}

const entries = fc.array(
  fc.uint8Array({ maxLength: 8 }).map(bytes => Buffer.from(bytes)),
  { maxLength: 40 },
)

/** The tree of a list, with the proof of its entry at `index`. */
function treeOf(list: readonly Buffer[], index?: number) {
  const tree = merkleTree()
  for (const [place, entry] of list.entries()) tree.add(leafHash(entry), place === index)
  return tree.end()
}

describe('a Merkle tree', () => {
  test('has the root that RFC 9162 defines', () => {
    fc.assert(
      fc.property(entries, list => {
        const { root, size, proof } = treeOf(list)
        expect(root.equals(defined(list))).toBe(true)
        expect(size).toBe(list.length)
        expect(proof).toBeNull()
      }),
    )
  })

  test('proves every entry at its place, and nothing that is not in it', () => {
    fc.assert(
      fc.property(entries, list => {
        const root = defined(list)
        const size = list.length
        for (const [index, entry] of list.entries()) {
          const tree = treeOf(list, index)
          expect(tree.root.equals(root)).toBe(true)
          expect(tree.proof?.index).toBe(index)
          const proof = tree.proof?.hashes ?? []
          const leaf = leafHash(entry)
          expect(isProven({ leaf, index, size, proof, root })).toBe(true)
          expect(isProven({ leaf: leafHash(Buffer.from('another')), index, size, proof, root })).toBe(false)
          expect(isProven({ leaf, index, size, proof: [...proof, root], root })).toBe(false)
        }
      }),
    )
  })

  test('proves one entry at most', () => {
    const tree = merkleTree()
    tree.add(leafHash(Buffer.from('a')), true)
    expect(() => tree.add(leafHash(Buffer.from('b')), true)).toThrow('a proof of the entries 0 and 1')
  })
})
