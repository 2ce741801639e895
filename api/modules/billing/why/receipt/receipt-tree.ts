// The hash tree of a usage receipt: an entry for each event that an invoice counted. docs/why.md shows how to check
// one.
import { hash } from 'node:crypto'
import { merkleTree } from '../../../../../shared/merkle-tree.ts'
import type { ReceiptEntries } from '../../../../usage/receipt-entries.ts'
import { type CountingOfMany, countingOfMany } from '../counted.ts'
import type { Basis } from '../reprice.ts'

export type ReceiptTree = {
  readonly root: string
  readonly numberOfEvents: number
  /** The position of the event to prove and the hashes from there to the root; null where the invoice did not count it. */
  readonly proof: { readonly content_hash: string; readonly index: number; readonly hashes: string[] } | null
}

export type GrowingTree = {
  /** Adds those entries of a slice that the invoice counted. Slices come in their order. */
  add(slice: readonly ReceiptEntries[]): void
  end(): ReceiptTree
}

/** `proven`: the reference of the event that is to be proven. */
export function receiptTree(basis: Basis, proven?: string): GrowingTree {
  const byMeter = countingsByMeter(basis)
  const provenOrder = proven === undefined ? null : hash('sha256', proven, 'hex').toUpperCase()
  const tree = merkleTree()
  let provenContent: string | null = null
  return {
    add: slice => {
      const counted: { readonly order: string; readonly leaf: Buffer }[] = []
      for (const entries of slice) {
        const countings = byMeter.get(entries.of.meterReference)?.flatMap(counting => counting(entries.of) ?? []) ?? []
        if (countings.length === 0) continue
        provenContent ??= entries.provenContent
        for (let index = 0; index < entries.number; index += 1) {
          const place = entries.placeOf(index)
          if (countings.some(counting => counting(place) === 'COUNTED'))
            counted.push({ order: entries.orderOf(index), leaf: entries.leafOf(index) })
        }
      }
      counted.sort((a, b) => (a.order < b.order ? -1 : 1))
      for (const { order, leaf } of counted) tree.add(leaf, order === provenOrder)
    },
    end: () => {
      const { root, size, proof } = tree.end()
      const hashes = proof?.hashes.map(each => each.toString('hex')) ?? []
      return {
        root: root.toString('hex'),
        numberOfEvents: size,
        proof: proof && provenContent !== null ? { content_hash: provenContent, index: proof.index, hashes } : null,
      }
    },
  }
}

function countingsByMeter(basis: Basis): ReadonlyMap<string, readonly CountingOfMany[]> {
  const byMeter = new Map<string, CountingOfMany[]>()
  for (const charge of basis.charges) {
    const counting = countingOfMany(basis, charge)
    const reference = charge.calculation?.meter_reference
    if (counting && reference !== undefined) byMeter.set(reference, [...(byMeter.get(reference) ?? []), counting])
  }
  return byMeter
}
