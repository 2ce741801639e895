// The shared limit in simulated time: gateways that join and die, clocks apart, reports lost, late and out of order. What holds after
// every step is asked with `ok`: that many calls of `expect` would take most of the time.
import { ok } from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { randomOf } from '../testing/random.ts'
import { mostBeyond, type Network, simulate, type World } from '../testing/shares-simulation.ts'
import { createShareBook, INTERVAL_MS, WINDOW } from './share-book.ts'

const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 })
const LIMIT = 1_000
const BATCH = 10
const JOIN_MS = 150 + WINDOW * INTERVAL_MS

/** Under way for less than an interval, and never two lost in a row: what WINDOW allows for. */
const ORDERLY: Network = { delayMs: INTERVAL_MS * 0.9, isLost: (random, inARow) => inARow === 0 && random() < 0.3 }
const PERFECT: Network = { delayMs: 5, isLost: () => false }

/** Every gateway is offered something else every half second: nothing, a little, or far too much. */
const restless = (seed: number): World['demandAt'] => {
  const levels = [0, 0, 50, 400, 1_500, 6_000]
  return (gateway, atMs) =>
    levels[Math.floor(randomOf(seed ^ (gateway * 7_919 + Math.floor(atMs / 500)))() * levels.length)] ?? 0
}

describe('while at most WINDOW - 1 reports of a gateway are missing or under way', () => {
  test('the shares never add up to more than the limit, whatever is asked, whoever joins or dies', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 2, max: 5 }), (seed, gateways) => {
        const world = simulate({ limit: LIMIT, network: ORDERLY, demandAt: restless(seed), batch: BATCH }, seed)
        world.start(0)
        const check = () => ok(world.sharesSum() <= LIMIT + 1e-6, 'the shares are more than the limit')
        for (let second = 1; second <= 6; second += 1) {
          if (second < gateways) world.start(JOIN_MS)
          if (second === 5) world.kill(0)
          world.runUntil(second * 1_000 + 500, check)
        }
        // One second's worth at the limit, and the debt of one batch each.
        expect(mostBeyond(world.passed, LIMIT)).toBeLessThanOrEqual(LIMIT + gateways * BATCH)
      }),
      // In the first, the one that was alone has passed nearly a second's worth before it hears of the other.
      { numRuns: 80, examples: [[1_913_231_410, 2]] },
    )
  }, 60_000)
})

describe('in a network that keeps its order', () => {
  test('what is asked for beyond the limit passes at the limit, at whatever gateways it is asked', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), (seed, gateways, busy) => {
        const demandAt = (gateway: number) => (gateway < busy ? 3_000 : 0)
        const world = simulate({ limit: LIMIT, network: PERFECT, demandAt, batch: BATCH }, seed)
        for (let each = 0; each < gateways; each += 1) world.start(JOIN_MS)
        world.runUntil(3_000)
        const before = world.passed.length
        world.runUntil(9_000)
        const perSecond = ((world.passed.length - before) * BATCH) / 6
        expect(perSecond).toBeGreaterThanOrEqual(LIMIT * 0.97)
        expect(perSecond).toBeLessThanOrEqual(LIMIT * 1.01)
      }),
      { numRuns: 40 },
    )
  }, 60_000)

  test('a demand that moves to another gateway has nearly all of the limit there within two seconds', () => {
    const demandAt = (gateway: number, atMs: number) => ((atMs < 4_000 ? 0 : 1) === gateway ? 2_000 : 0)
    const world = simulate({ limit: LIMIT, network: PERFECT, demandAt, batch: BATCH }, 1)
    for (let each = 0; each < 3; each += 1) world.start(JOIN_MS)
    world.runUntil(9_000)
    const inSecond = (second: number) =>
      world.passed.filter(({ at }) => at >= second * 1_000 && at < (second + 1) * 1_000).length * BATCH
    expect(inSecond(3)).toBeGreaterThan(LIMIT * 0.97)
    expect(inSecond(6)).toBeGreaterThan(LIMIT * 0.97)
  })

  test.each([2, 3, 5])(
    'a flood that moves between %i gateways every two seconds passes at two thirds of the limit at least',
    gateways => {
      const demandAt = (gateway: number, atMs: number) => (Math.floor(atMs / 2_000) % gateways === gateway ? 20_000 : 0)
      const world = simulate({ limit: LIMIT, network: PERFECT, demandAt, batch: BATCH }, gateways)
      for (let each = 0; each < gateways; each += 1) world.start(JOIN_MS)
      world.runUntil(4_000)
      const before = world.passed.length
      world.runUntil(24_000)
      expect((world.passed.length - before) * BATCH).toBeGreaterThan((LIMIT * 20 * 2) / 3)
      expect(mostBeyond(world.passed, LIMIT)).toBeLessThanOrEqual(LIMIT + gateways * BATCH)
    },
  )
})

test('whatever the network does, no share is more than the limit, and when it is calm again all is as it should be', () => {
  fc.assert(
    fc.property(seeds, fc.integer({ min: 2, max: 5 }), (seed, gateways) => {
      let calm = false
      const network: Network = {
        delayMs: 900,
        isLost: random => !calm && random() < 0.5,
      }
      const demandAt = (gateway: number, atMs: number) => (calm ? 2_000 : restless(seed)(gateway, atMs))
      const world = simulate({ limit: LIMIT, network, demandAt, batch: BATCH }, seed)
      for (let each = 0; each < gateways; each += 1) world.start(JOIN_MS)
      world.runUntil(5_000, () =>
        ok(world.sharesSum() <= LIMIT * world.living() + 1e-6, 'a share is more than the limit'),
      )
      world.kill(0)
      calm = true
      world.runUntil(10_000)
      expect(world.sharesSum()).toBeLessThanOrEqual(LIMIT + 1e-6)
      expect(world.sharesSum()).toBeGreaterThanOrEqual(LIMIT * 0.97)
    }),
    { numRuns: 40 },
  )
}, 60_000)

describe('the book', () => {
  const at = () => {
    const time = { nowMs: 0 }
    return { time, book: createShareBook({ gateway: 'a', nowMs: () => time.nowMs }) }
  }
  const said = (gateway: string, seq: number, demand: number) => ({ gateway, seq, demands: new Map([['t', demand]]) })

  test('an old report, a repeated one and our own change nothing', () => {
    const { book } = at()
    book.hear(said('b', 5, 100))
    const share = book.shareOf('t', 100)
    for (const report of [said('b', 5, 0), said('b', 4, 0), said('a', 9, 0)]) book.hear(report)
    expect([book.gateways(), book.shareOf('t', 100)]).toEqual([2, share])
  })

  test('who is silent for a second gives its share back, and who says so at once', () => {
    const { time, book } = at()
    book.hear(said('b', 1, 100))
    book.hear(said('c', 1, 100))
    book.forget('c')
    expect(book.gateways()).toBe(2)
    for (let turn = 0; turn < 5; turn += 1) {
      time.nowMs += INTERVAL_MS
      book.report(new Map(), true)
    }
    expect(book.gateways()).toBe(2)
    time.nowMs += INTERVAL_MS
    book.report(new Map(), true)
    expect([book.gateways(), book.shareOf('t', 100)]).toEqual([1, 100])
  })

  test('while nothing can be heard the last share stays', () => {
    const { time, book } = at()
    book.hear(said('b', 1, 0))
    for (let turn = 0; turn < 50; turn += 1) {
      time.nowMs += INTERVAL_MS
      book.report(new Map(), false)
    }
    time.nowMs += 60_000 // stood still: no report of ours, and nobody's either
    book.report(new Map(), true)
    expect([book.gateways(), book.shareOf('t', 100)]).toEqual([2, 50])
  })
})
