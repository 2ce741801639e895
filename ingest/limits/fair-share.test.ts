import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fairShare } from './fair-share.ts'

const demand = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 30_000, noNaN: true }))
const demands = fc.array(demand, { minLength: 1, maxLength: 12 })
const limit = fc.double({ min: 1, max: 20_000, noNaN: true })
const without = (all: readonly number[], index: number): number[] => all.filter((_, each) => each !== index)
const sharesOf = (of: number, all: readonly number[]): number[] =>
  all.map((own, index) => fairShare(of, own, without(all, index)))

test.each([
  ['alone, everything', 1000, [5000], [1000]],
  ['nobody asks: evenly', 1000, [0, 0], [500, 500]],
  ['one asks for all: all but the reserve of the other', 1000, [5000, 0], [995, 5]],
  ['both ask for too much: evenly', 1000, [5000, 900], [500, 500]],
  ['who asks for little gets it', 1000, [5000, 100], [890 + 5, 100 + 5]],
  ['what is spare is split evenly', 1000, [190, 0], [190 + 400 + 5, 400 + 5]],
] as const)('%s', (_name, of, all, expected) => {
  expect(sharesOf(of, all).map(share => Math.round(share * 1e6) / 1e6)).toEqual(expected)
})

test('the shares of all add up to the limit, and none is without a share', () => {
  fc.assert(
    fc.property(limit, demands, (of, all) => {
      const shares = sharesOf(of, all)
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(of, 6)
      for (const share of shares) expect(share).toBeGreaterThanOrEqual((of * 0.01) / all.length - 1e-9)
    }),
  )
})

test('everybody gets what they ask for or as much as anybody else', () => {
  fc.assert(
    fc.property(limit, demands, (of, all) => {
      const shares = sharesOf(of, all)
      const most = Math.max(...shares)
      for (const [index, own] of all.entries()) {
        const share = shares[index] ?? 0
        if (share < Math.min(own, of * 0.99) - 1e-6) expect(share).toBeCloseTo(most, 6)
      }
    }),
  )
})

test('asking for more never shrinks our share, nor does another asking for less', () => {
  fc.assert(
    fc.property(limit, demand, demands, demand, (of, own, others, more) => {
      const share = fairShare(of, own, others)
      expect(fairShare(of, own + more, others)).toBeGreaterThanOrEqual(share - 1e-6)
      const fallen = others.map((each, index) => (index === 0 ? Math.max(0, each - more) : each))
      expect(fairShare(of, own, fallen)).toBeGreaterThanOrEqual(share - 1e-6)
    }),
  )
})
