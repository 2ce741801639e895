// One tenant's reads wait for each other, and for those of no other tenant.
import { expect, test } from 'vitest'
import { AppError } from '../../shared/errors.ts'
import type { Tenant } from '../../shared/tenant.ts'
import { createReadTurns } from './read-turns.ts'

const one: Tenant = { platformId: 'plat_1', environment: 'LIVE' }
const other: Tenant = { platformId: 'plat_2', environment: 'LIVE' }
const turn = () => new Promise(resolve => setImmediate(resolve))

/** Reads that are at work until they are ended. */
function rig(most: number) {
  const turns = createReadTurns(most)
  const started: string[] = []
  const ends = new Map<string, { resolve: (text: string) => void; reject: (error: Error) => void }>()
  const read = (tenant: Tenant, name: string) =>
    turns.run(tenant, () => {
      started.push(name)
      return new Promise<string>((resolve, reject) => ends.set(name, { resolve, reject }))
    })
  return {
    read,
    started,
    end: (name: string) => ends.get(name)?.resolve(name),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  }
}

test('reads beyond the limit of a tenant wait in order, and no other tenant waits for them', async () => {
  const { read, started, end } = rig(2)
  const all = ['a', 'b', 'c', 'd'].map(name => read(one, name))
  const apart = [read(other, 'x'), read({ ...one, environment: 'TEST' }, 'y')]
  await turn()
  expect(started).toEqual(['a', 'b', 'x', 'y'])
  end('b')
  await turn()
  expect(started.at(-1)).toBe('c')
  for (const name of ['a', 'x', 'y', 'c']) end(name)
  await turn()
  end('d')
  expect(await Promise.all([...all, ...apart])).toEqual(['a', 'b', 'c', 'd', 'x', 'y'])
})

test('a read that fails frees its place, and so does one that throws synchronously', async () => {
  const { read, started, end, fail } = rig(1)
  const turns = createReadTurns(1)
  const failing = expect(read(one, 'a')).rejects.toThrow('a')
  const next = read(one, 'b')
  await turn()
  fail('a')
  await failing
  await turn()
  expect(started).toEqual(['a', 'b'])
  end('b')
  expect(await next).toBe('b')
  const thrown = () => {
    throw new Error('at once')
  }
  await expect(turns.run(one, thrown)).rejects.toThrow('at once')
  expect(await turns.run(one, async () => 'after')).toBe('after')
})

test('a read that waits too long is refused, and the next one can start', async () => {
  const turns = createReadTurns(1, 20)
  let end = (): void => undefined
  const slow = turns.run(
    one,
    () =>
      new Promise<void>(resolve => {
        end = resolve
      }),
  )
  await expect(turns.run(one, async () => 'never')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  expect(await turns.run(other, async () => 'at once')).toBe('at once')
  end()
  await slow
  expect(await turns.run(one, async () => 'after')).toBe('after')
})

test('when a service is unavailable, waiting reads are refused at once; any other error fails only its own read', async () => {
  const turns = createReadTurns(1)
  const failing = (error: Error) => turns.run(one, () => turn().then(() => Promise.reject(error)))
  const away = new AppError('SERVICE_UNAVAILABLE', 'PostgreSQL is away.', { retryAfterSeconds: 5 })
  const [first, ...waiting] = await Promise.allSettled([
    failing(away),
    turns.run(one, async () => 'b'),
    turns.run(one, async () => 'c'),
  ])
  expect([first, ...waiting]).toEqual(Array(3).fill({ status: 'rejected', reason: away }))
  const [refused, next] = await Promise.allSettled([
    failing(new AppError('RESOURCE_NOT_FOUND', 'There is none.')),
    turns.run(one, async () => 'b'),
  ])
  expect([refused?.status, next]).toEqual(['rejected', { status: 'fulfilled', value: 'b' }])
})

test('the limit holds however long each read takes, and every read is answered', async () => {
  const turns = createReadTurns(3)
  let active = 0
  let highest = 0
  const reads = Array.from({ length: 200 }, (_, place) =>
    turns.run(one, async () => {
      active += 1
      highest = Math.max(highest, active)
      for (let waits = place % 4; waits > 0; waits -= 1) await turn()
      active -= 1
      return place
    }),
  )
  expect(await Promise.all(reads)).toEqual(reads.map((_, place) => place))
  expect(highest).toBe(3)
})
