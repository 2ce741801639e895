import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWitness, EMPTY_TABLE, type LeaseTable, ownedBy, renewed, without } from './lease-table.ts'

const PARTITIONS = 8
const nobody: ReadonlySet<string> = new Set()
const join = (table: LeaseTable, id: string, indexed: readonly number[] = []): LeaseTable =>
  renewed(table, { id, partitions: PARTITIONS, indexed, silent: nobody })
const of = (...ids: string[]): LeaseTable => ids.reduce((table, id) => join(table, id), EMPTY_TABLE)
const sizes = (table: LeaseTable): number[] =>
  Object.keys(table.members)
    .map(id => ownedBy(table, id).length)
    .toSorted((a, b) => b - a)
const moved = (a: LeaseTable, b: LeaseTable): number =>
  Object.keys(b.owners).filter(partition => a.owners[Number(partition)] !== b.owners[Number(partition)]).length

describe('who works which partition', () => {
  test('one aggregator has everything, and a second takes half without a restart of the first', () => {
    const alone = of('a')
    expect(sizes(alone)).toEqual([8])
    expect(sizes(join(alone, 'b'))).toEqual([4, 4])
    expect(moved(alone, join(alone, 'b'))).toBe(4)
  })
  test('more aggregators than partitions leave some without', () => {
    const many = of(...Array.from({ length: 10 }, (_, index) => `m${index}`))
    expect(sizes(many)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 0, 0])
  })
  test('a partition goes to whoever has its index', () => {
    const three = of('a', 'b', 'c')
    const [, ...lastTwo] = ownedBy(three, 'a')
    expect(lastTwo).toHaveLength(2)
    expect(ownedBy(without(join(three, 'c', lastTwo), 'a', PARTITIONS), 'c')).toEqual(expect.arrayContaining(lastTwo))
    // A new aggregator with indexes of an earlier life gets those partitions of a full one.
    expect(ownedBy(join(of('a'), 'b', [1, 3, 5, 7]), 'b')).toEqual([1, 3, 5, 7])
  })

  const steps = fc.array(
    fc.record({ kind: fc.constantFrom('renew', 'leave', 'silent'), id: fc.constantFrom('a', 'b', 'c', 'd', 'e') }),
    { maxLength: 60 },
  )
  test('whatever comes and goes: every partition has one living owner, shares differ by one, and no more moves than must', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 20 }), (list, partitions) => {
        let table = EMPTY_TABLE
        for (const { kind, id } of list) {
          const before = table
          const silent = kind === 'silent' ? new Set([id]) : nobody
          const me = kind === 'silent' ? 'z' : id
          table =
            kind === 'leave'
              ? without(table, id, partitions)
              : renewed(table, { id: me, partitions, indexed: [], silent })
          const members = Object.keys(table.members)
          expect(Object.keys(table.owners)).toHaveLength(members.length === 0 ? 0 : partitions)
          for (const owner of Object.values(table.owners)) expect(members).toContain(owner)
          const counts = members.map(member => ownedBy(table, member).length)
          expect(Math.max(0, ...counts) - Math.min(partitions, ...counts)).toBeLessThanOrEqual(1)
          // What a member loses is no more than what it had beyond its share, so a table without change moves nothing.
          if (Object.keys(before.members).toSorted().join() === members.toSorted().join())
            expect(moved(before, table)).toBe(0)
        }
      }),
    )
  })
})

describe('a witness', () => {
  const beating = (a: number, b: number): LeaseTable => ({
    members: { a: { beat: a, indexed: [] }, b: { beat: b, indexed: [] } },
    owners: {},
  })
  test('calls a member silent when its beat stands still for a lease, and not before', () => {
    const witness = createWitness(6_000)
    expect(witness.silentIn(beating(1, 1), 0).size).toBe(0)
    expect(witness.silentIn(beating(2, 1), 5_999).size).toBe(0)
    expect([...witness.silentIn(beating(3, 1), 6_000)]).toEqual(['b'])
    expect(witness.silentIn(beating(4, 2), 7_000).size).toBe(0)
  })
  test('counts no time in which it saw nothing', () => {
    const witness = createWitness(6_000)
    witness.silentIn(beating(1, 1), 0)
    witness.forget()
    expect(witness.silentIn(beating(1, 1), 60_000).size).toBe(0)
    expect([...witness.silentIn(beating(1, 1), 66_000)]).toEqual(['a', 'b'])
  })
})
