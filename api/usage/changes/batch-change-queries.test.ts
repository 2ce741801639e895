import { expect, test } from 'vitest'
import { batchChangeQueries } from './batch-change-queries.ts'
import type { ChangeQuery } from './usage-changes.ts'

const NEVER = {} as Parameters<typeof batchChangeQueries>[0]
const tenantOf = (platformId: string) => ({ platformId, environment: 'TEST' as const })
const about = (meterReference: string): ChangeQuery => ({ customerKeys: ['c'], meterReference, pieces: [] })

test('what is asked in one turn is one statement a tenant, and every caller is given its own answers', async () => {
  const sent: string[] = []
  const ask = batchChangeQueries(NEVER, async ({ platformId }, questions) => {
    sent.push(`${platformId} ${questions.map(({ meterReference }) => meterReference).join('')}`)
    return questions.map(({ meterReference }) => [meterReference === 'b', meterReference === 'd'])
  })
  const [a, b] = [tenantOf('a'), tenantOf('b')]
  const answers = await Promise.all([
    ask(a, [about('a'), about('b')]),
    ask(b, [about('c')]),
    ask(a, []),
    ask(a, [about('d')]),
  ])
  expect(answers).toEqual([
    [
      [false, false],
      [true, false],
    ],
    [[false, false]],
    [],
    [[false, true]],
  ])
  expect(await ask(a, [about('b')])).toEqual([[true, false]])
  expect(sent).toEqual(['a abd', 'b c', 'a b'])
})

test('a store that is away fails all of the turn, and the next turn asks anew', async () => {
  let away = true
  const ask = batchChangeQueries(NEVER, async (_tenant, questions) => {
    if (away) throw new Error('away')
    return questions.map(() => [])
  })
  const turn = await Promise.allSettled([ask(tenantOf('a'), [about('a')]), ask(tenantOf('a'), [about('b')])])
  expect(turn.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  away = false
  expect(await ask(tenantOf('a'), [about('a')])).toEqual([[]])
})
