// What decisions make of a request, by its strategy (semantics 7).
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Reviewer, Strategy } from '../schema.ts'
import { type Decision, decide } from './decide.ts'

const AT = '2026-03-11T10:00:00Z'
const reviewer = (id: string, level: number | null = null): Reviewer => ({
  id,
  status: 'PENDING_REVIEW',
  reviewed_at: null,
  level,
})
/** A letter for each: `a+` approves, `a-` declines. What came of it, or the refusal of the last one. */
function after(strategy: Strategy, levels: Readonly<Record<string, number | null>>, decisions: string): string {
  let reviewers: readonly Reviewer[] = Object.entries(levels).map(([id, level]) => reviewer(id, level))
  let status: string = 'PENDING_REVIEW'
  for (const [userId = '', sign] of decisions.split(' ')) {
    const decision: Decision = sign === '+' ? 'APPROVED' : 'DECLINED'
    const decided = decide({ strategy, reviewers }, { userId, decision, at: AT })
    if ('refused' in decided) return decided.refused
    reviewers = decided.reviewers
    status = decided.status
  }
  return status
}

const GROUP = { a: null, b: null, c: null }
const LEVELS = { a: 1, b: 1, c: 2, d: 3 }

test.each<[Strategy, Readonly<Record<string, number | null>>, string, string]>([
  ['EVERYONE_HAS_TO_APPROVE', GROUP, 'a+ b+', 'PENDING_REVIEW'],
  ['EVERYONE_HAS_TO_APPROVE', GROUP, 'a+ b+ c+', 'APPROVED'],
  ['EVERYONE_HAS_TO_APPROVE', GROUP, 'a+ b-', 'DECLINED'],
  ['EVERYONE_HAS_TO_APPROVE', LEVELS, 'd+ c+ b+ a+', 'APPROVED'],
  ['EVERYONE_HAS_TO_APPROVE', GROUP, 'a+ a+', 'You have APPROVED it already; each reviewer decides once.'],
  ['EVERYONE_HAS_TO_APPROVE', GROUP, 'a+ a-', 'You have APPROVED it already; each reviewer decides once.'],
  ['EVERYONE_HAS_TO_APPROVE', GROUP, 'x+', 'The user x is no reviewer of this request; its reviewers decide.'],
  ['ANYONE_CAN_DECIDE', GROUP, 'b+', 'APPROVED'],
  ['ANYONE_CAN_DECIDE', GROUP, 'c-', 'DECLINED'],
  ['ALL_LEVELS_MUST_APPROVE', LEVELS, 'a+', 'PENDING_REVIEW'],
  ['ALL_LEVELS_MUST_APPROVE', LEVELS, 'a+ c+ d+', 'APPROVED'],
  ['ALL_LEVELS_MUST_APPROVE', LEVELS, 'c+', 'Level 1 decides first; approve it once that level has.'],
  ['ALL_LEVELS_MUST_APPROVE', LEVELS, 'a+ d+', 'Level 2 decides first; approve it once that level has.'],
  ['ALL_LEVELS_MUST_APPROVE', LEVELS, 'a+ b+', 'Level 1 has approved it already; the next level decides.'],
  ['ALL_LEVELS_MUST_APPROVE', LEVELS, 'd-', 'DECLINED'],
  ['ALL_LEVELS_MUST_APPROVE', LEVELS, 'a+ b-', 'DECLINED'],
  ['HIGHER_LEVEL_CAN_OVERRIDE', LEVELS, 'd+', 'APPROVED'],
  ['HIGHER_LEVEL_CAN_OVERRIDE', LEVELS, 'a+ c+', 'PENDING_REVIEW'],
  ['HIGHER_LEVEL_CAN_OVERRIDE', LEVELS, 'c+ a+', 'Level 2 has approved it, which settles it for the levels below.'],
  ['HIGHER_LEVEL_CAN_OVERRIDE', LEVELS, 'c+ a-', 'Level 2 has approved it, which settles it for the levels below.'],
  ['HIGHER_LEVEL_CAN_OVERRIDE', LEVELS, 'a+ b+', 'Level 1 has approved it already; the next level decides.'],
  ['HIGHER_LEVEL_CAN_OVERRIDE', LEVELS, 'a-', 'DECLINED'],
])('%s of %o: %s', (strategy, levels, decisions, expected) => {
  expect(after(strategy, levels, decisions)).toBe(expected)
})

test('a decision is recorded with its time, and the others stay as they are', () => {
  const reviewers = [reviewer('a'), reviewer('b')]
  expect(
    decide({ strategy: 'EVERYONE_HAS_TO_APPROVE', reviewers }, { userId: 'b', decision: 'APPROVED', at: AT }),
  ).toEqual({
    reviewers: [reviewer('a'), { id: 'b', status: 'APPROVED', reviewed_at: AT, level: null }],
    status: 'PENDING_REVIEW',
  })
})

const STRATEGIES = [
  'EVERYONE_HAS_TO_APPROVE',
  'ANYONE_CAN_DECIDE',
  'ALL_LEVELS_MUST_APPROVE',
  'HIGHER_LEVEL_CAN_OVERRIDE',
] as const

test('in whatever order reviewers approve, a request without a decline is approved in the end', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...STRATEGIES),
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.nat()),
      (strategy, levels, choices) => {
        let reviewers: readonly Reviewer[] = levels.map((level, place) => reviewer(`u${place}`, level))
        let status: string = 'PENDING_REVIEW'
        while (status === 'PENDING_REVIEW') {
          const current = reviewers
          const able = current.filter(
            each =>
              'status' in decide({ strategy, reviewers: current }, { userId: each.id, decision: 'APPROVED', at: AT }),
          )
          const next = able[(choices.next().value ?? 0) % able.length]
          expect(next, 'a reviewer can decide while it is pending').toBeDefined()
          const decided = decide({ strategy, reviewers }, { userId: next?.id ?? '', decision: 'APPROVED', at: AT })
          if ('refused' in decided) throw new Error(decided.refused)
          reviewers = decided.reviewers
          status = decided.status
        }
        expect(status).toBe('APPROVED')
      },
    ),
  )
})
