import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLeaseObserver, EMPTY_TABLE, type LeaseTable, ownedBy, renewed, without } from './lease-table.ts'

const PARTITIONS = 8
const LEASE = 6_000
const TURN = 1_500
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

  type Step = { readonly kind: 'renew' | 'leave' | 'silent'; readonly id: string }
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.record({ kind: fc.constantFrom('renew', 'leave', 'silent'), id: fc.constantFrom('a', 'b', 'c', 'd', 'e') }),
    { maxLength: 60 },
  )
  const after = (table: LeaseTable, { kind, id }: Step, partitions: number): LeaseTable => {
    if (kind === 'leave') return without(table, id, partitions)
    if (kind === 'renew') return renewed(table, { id, partitions, indexed: [], silent: nobody })
    return renewed(table, { id: 'z', partitions, indexed: [], silent: new Set([id]) })
  }
  const names = (table: LeaseTable): string[] => Object.keys(table.members).toSorted()

  function expectFair(table: LeaseTable, partitions: number): void {
    const counts = names(table).map(member => ownedBy(table, member).length)
    // Together they have every partition, so that no owner is anybody else.
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(counts.length === 0 ? 0 : partitions)
    expect(Math.max(0, ...counts) - Math.min(partitions, ...counts)).toBeLessThanOrEqual(counts.length === 0 ? 0 : 1)
  }

  test('whatever comes and goes: every partition has one living owner, shares differ by one, nothing moves without need', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 20 }), (list, partitions) => {
        let table = EMPTY_TABLE
        for (const step of list) {
          const before = table
          table = after(table, step, partitions)
          expectFair(table, partitions)
          if (names(before).join() === names(table).join()) expect(moved(before, table)).toBe(0)
        }
      }),
    )
  })

  // Each of them on a clock of its own, sleeping and dying at random; nobody tells anybody anything but by the table.
  test('the living have all of it within a lease and two turns of the last fault', () => {
    fc.assert(
      fc.property(fc.gen(), gen => {
        const below = (limit: number): number => gen(fc.integer, { min: 0, max: limit - 1 })
        const workers = ['a', 'b', 'c', 'd'].slice(0, 1 + below(4)).map(newWorker(below))
        const noisy = run(EMPTY_TABLE, workers, { fromMs: 0, toMs: 60_000, below })
        for (const worker of workers) worker.nextAt = Math.min(worker.nextAt, 60_000)
        const table = run(noisy, workers, { fromMs: 60_000, toMs: 60_000 + LEASE + 2 * TURN, below: null })
        expect(names(table)).toEqual(workers.filter(({ dead }) => !dead).map(({ id }) => id))
        expectFair(table, PARTITIONS)
      }),
      // A second's work; a counterexample is long and not worth the minutes it takes to shorten.
      { numRuns: 500, endOnFailure: true },
    )
  })

  type Below = (limit: number) => number
  const newWorker = (below: Below) => (id: string) => ({
    id,
    observer: createLeaseObserver(LEASE),
    clockMs: below(1_000_000_000),
    nextAt: 0,
    dead: false,
  })
  type Worker = ReturnType<ReturnType<typeof newWorker>>
  type Span = { readonly fromMs: number; readonly toMs: number; readonly below: Below | null }

  function run(before: LeaseTable, workers: readonly Worker[], { fromMs, toMs, below }: Span): LeaseTable {
    let table = before
    for (let nowMs = fromMs; nowMs < toMs; nowMs += 100) {
      for (const worker of workers.filter(({ dead, nextAt }) => !dead && nextAt <= nowMs)) {
        const silent = worker.observer.silentMembers(table, nowMs + worker.clockMs)
        table = renewed(table, { id: worker.id, partitions: PARTITIONS, indexed: [], silent })
        worker.nextAt = nowMs + TURN
        if (below?.(20) === 0) worker.nextAt += below(3 * LEASE)
        if (below?.(60) === 0) worker.dead = workers.filter(({ dead }) => !dead).length > 1
      }
    }
    return table
  }
})

describe('a lease observer', () => {
  const beating = (a: number, b: number): LeaseTable => ({
    members: { a: { beat: a, indexed: [] }, b: { beat: b, indexed: [] } },
    owners: {},
  })
  test('calls a member silent when its beat stands still for a lease, and not before', () => {
    const observer = createLeaseObserver(LEASE)
    expect(observer.silentMembers(beating(1, 1), 0).size).toBe(0)
    expect(observer.silentMembers(beating(2, 1), 5_999).size).toBe(0)
    expect([...observer.silentMembers(beating(3, 1), 6_000)]).toEqual(['b'])
    expect(observer.silentMembers(beating(4, 2), 7_000).size).toBe(0)
  })
  test('counts no time in which it saw nothing', () => {
    const observer = createLeaseObserver(LEASE)
    observer.silentMembers(beating(1, 1), 0)
    observer.forget()
    expect(observer.silentMembers(beating(1, 1), 60_000).size).toBe(0)
    expect([...observer.silentMembers(beating(1, 1), 66_000)]).toEqual(['a', 'b'])
  })
})
