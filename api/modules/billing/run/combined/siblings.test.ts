// Which sets of invoices a run reads, and what keeps the others of a set waiting.
import { expect, test } from 'vitest'
import { AppError } from '../../../../../shared/errors.ts'
import { at, instantOf } from '../../../../../shared/time.ts'
import { exampleInputs } from '../../testing/example-inputs.ts'
import type { Outcome } from '../outcome.ts'
import { chooseSets, leaveTogether } from './siblings.ts'
import { inputsOf, START } from './testing/combining.ts'

const states = (...ids: string[]) => ids.map(id => [id, { inputs: inputsOf({ id }) }] as const)

test.each<[string, string[][], string[], string[], string[]]>([
  [
    'all sets that it has one of',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
    ['a', 'c'],
    ['b', 'd'],
    [],
  ],
  [
    'only as many as it may, and leaves those of the other sets alone',
    [
      ['a', 'b', 'x'],
      ['c', 'd'],
    ],
    ['a', 'c'],
    ['b', 'x'],
    ['c'],
  ],
  [
    'a set that needs no more, whatever else it reads',
    [
      ['a', 'b', 'x'],
      ['c', 'd'],
    ],
    ['a', 'c', 'd'],
    ['b', 'x'],
    [],
  ],
  ['the first set, however large it is', [['a', 'b', 'x', 'y']], ['a'], ['b', 'x', 'y'], []],
])('reads %s', (_title, sets, own, others, alone) => {
  const chosen = chooseSets(sets, new Set(own), 2)
  expect([chosen.others, [...chosen.alone]]).toEqual([others, alone])
})
const failed = (error: Error): Outcome => ({ kind: 'FAILED', error })

test.each<[string, Outcome | null, string[]]>([
  ['one that another run holds keeps the others for later', { kind: 'ALONE' }, ['other']],
  ['one that changed has the others read again', null, ['other']],
  ['one that is refused keeps no other waiting', failed(new AppError('INVALID_OPERATION', 'no rate')), ['b', 'other']],
  ['one whose usage could not be read keeps the others for later', failed(new Error('connection reset')), ['other']],
  ['so does a service that was away', failed(new AppError('SERVICE_UNAVAILABLE', 'away')), ['other']],
])('%s', (_title, outcome, expected) => {
  const all = new Map(states('a', 'b'))
  const lone = { inputs: exampleInputs({ start: START, items: [] }) }
  const others = states('b').map(([id, state]) => [id, { ...state, rows: [] }] as const)
  const held = new Map([...others, ['other', lone] as const]) as unknown as Parameters<typeof leaveTogether>[1]
  const left = new Map([['a', outcome]])
  leaveTogether(all, held, left, instantOf(0))
  expect([...held.keys()]).toEqual(expected)
  expect(left.get('b')).toEqual(
    expected.includes('b') ? undefined : outcome && expect.objectContaining({ kind: 'ALONE' }),
  )
  if (outcome?.kind === 'FAILED' && !expected.includes('b'))
    expect(left.get('b')).toMatchObject({ waitsFor: { subscriptionId: 'a', error: outcome.error } })
})

test.each<[string, Outcome, boolean]>([
  ['2026-04-02T07:59:59Z', failed(new Error('broken')), false],
  ['2026-04-02T08:00:00Z', failed(new Error('broken')), true],
  ['2026-04-02T08:00:00Z', { kind: 'ALONE' }, false],
])('waits for one that cannot be billed for a day: at %s', (now, outcome, stays) => {
  // Late for long for another reason, it waits for this one since April.
  const rows = [{ status: 'DRAFT', finalize_at: '2026-03-01T08:00:00Z', combine_fault_at: '2026-04-01T08:00:00Z' }]
  const all = new Map(states('a', 'b'))
  const held = new Map(states('b').map(([id, state]) => [id, { ...state, rows }])) as unknown as Parameters<
    typeof leaveTogether
  >[1]
  leaveTogether(all, held, new Map([['a', outcome]]), at(now))
  expect(held.has('b')).toBe(stays)
})
