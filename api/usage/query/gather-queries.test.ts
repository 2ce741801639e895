import { expect, test } from 'vitest'
import { AppError } from '../../../shared/errors.ts'
import { instantOf, interval } from '../../../shared/time.ts'
import type { UsageQuery } from '../usage-query.ts'
import { gatherQueries, oneQuery } from './gather-queries.ts'

const NEVER = {} as Parameters<typeof gatherQueries>[0]
const query = (meterReference: string): UsageQuery => ({
  tenant: { platformId: 'plat', environment: 'TEST' },
  customerKeys: ['c'],
  meterReference,
  interval: interval(instantOf(0), instantOf(1)),
  calculation: { type: 'SUM', valueReference: 'v' },
})
const named = (subscription: string) => [{ currency: null, number: null as never, count: 0, split: [], subscription }]

/** Answers with the name of the meter, and remembers what was sent together. */
function answering(refuse: (meters: readonly string[]) => unknown = () => null) {
  const sent: string[][] = []
  const ask = gatherQueries(NEVER, async queries => {
    const meters = queries.map(({ meterReference }) => meterReference)
    sent.push(meters)
    const refusal = refuse(meters)
    if (refusal) throw refusal
    return meters.map(meter => (meter === 'many' ? new AppError('INVALID_OPERATION', 'Too many.') : named(meter)))
  })
  const read = oneQuery(ask)
  const meters = async (...wanted: string[]) =>
    (await Promise.allSettled(wanted.map(async meter => (await read(query(meter)))[0]?.subscription))).map(each =>
      each.status === 'fulfilled' ? each.value : each.reason.message,
    )
  return { sent, meters, ask }
}

test('what is read in one turn is one statement, and every caller is given its own answer', async () => {
  const { sent, meters } = answering()
  expect(await meters('a', 'b', 'c')).toEqual(['a', 'b', 'c'])
  expect(await meters('d')).toEqual(['d'])
  expect(sent).toEqual([['a', 'b', 'c'], ['d']])
})

test('an answer that is refused is refused alone', async () => {
  expect(await answering().meters('a', 'many', 'c')).toEqual(['a', 'Too many.', 'c'])
})

test('a query that the statement fails by fails alone: the others are sent again', async () => {
  const { sent, meters } = answering(all => (all.includes('bad') ? new Error('too deep') : null))
  expect(await meters('a', 'b', 'bad', 'd', 'e')).toEqual(['a', 'b', 'too deep', 'd', 'e'])
  expect(sent.at(0)).toHaveLength(5)
  expect(sent.length).toBeLessThan(9)
})

test('a store that is away is not tried again for each of them', async () => {
  const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  const { sent, meters } = answering(() => away)
  expect(await meters('a', 'b')).toEqual(['refused', 'refused'])
  expect(sent).toHaveLength(1)
})

test('with a limit for each turn, other work runs between the answers', async () => {
  const order: string[] = []
  const read = oneQuery(
    gatherQueries(NEVER, async queries => queries.map(({ meterReference }) => named(meterReference)), 1),
  )
  const noted = ['a', 'b'].map(async meter => order.push((await read(query(meter)))[0]?.subscription ?? ''))
  await new Promise(resolve => setImmediate(resolve))
  const other = new Promise(resolve => setImmediate(resolve)).then(() => order.push('other'))
  await Promise.all([...noted, other])
  expect(order.indexOf('other')).toBeLessThan(order.indexOf('b'))
})

test('several questions of one caller are answered together, each in its place', async () => {
  const { sent, meters, ask } = answering()
  const namesOf = (...wanted: string[]) =>
    ask(wanted.map(query), answers => answers.map(([found]) => found?.subscription).join(' '))
  expect(await Promise.all([namesOf('a', 'b'), namesOf(), namesOf('c'), meters('d')])).toEqual(['a b', '', 'c', ['d']])
  expect(sent).toEqual([['a', 'b', 'c', 'd']])
})

test('when one query fails, its caller gets its own error, and other callers get their answers', async () => {
  const { meters, ask } = answering()
  const refused = (error: unknown) => new Error(`refused: ${error instanceof Error ? error.message : ''}`)
  const both = ask(['a', 'many'].map(query), () => 'made', refused)
  const [first, second] = await Promise.allSettled([both, meters('b')])
  expect(first).toMatchObject({ reason: { message: 'refused: Too many.' } })
  expect(second).toMatchObject({ value: ['b'] })
})

test('what cannot be made of the answers is thrown to its caller alone', async () => {
  const { meters, ask } = answering()
  const broken = ask([query('a')], () => {
    throw new Error('cannot be made')
  })
  const [first, second] = await Promise.allSettled([broken, meters('b')])
  expect(first).toMatchObject({ reason: { message: 'cannot be made' } })
  expect(second).toMatchObject({ value: ['b'] })
})
