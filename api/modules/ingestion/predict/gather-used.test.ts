// Who asks while the usage store hangs is answered with those who asked first.
import { expect, test } from 'vitest'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { gatherUsed } from './gather-used.ts'

const tenant = { platformId: 'plat_1', environment: 'TEST' } as unknown as Tenant

/** A store whose answers the test gives, one by one. */
function store() {
  const asked: { ids: readonly string[]; answer(found: string[]): void; fail(error: Error): void }[] = []
  const used = (_: Tenant, ids: readonly string[]): Promise<Set<string>> =>
    new Promise((resolve, reject) => {
      asked.push({ ids, answer: found => resolve(new Set(found)), fail: reject })
    })
  return { asked, isUsed: gatherUsed({ used }) }
}

test('what comes while a question is out goes into the next one', async () => {
  const { asked, isUsed } = store()
  const all = ['a', 'b', 'c', 'b'].map(id => isUsed(tenant, id))
  asked[0]?.answer(['a'])
  await all[0]
  expect(asked.map(each => each.ids)).toEqual([['a'], ['b', 'c']])
  asked[1]?.answer(['c'])
  expect(await Promise.all(all)).toEqual([true, false, true, false])
})

test('a store that is unavailable is not asked again for those who wait', async () => {
  const { asked, isUsed } = store()
  const all = ['a', 'b', 'c'].map(id => isUsed(tenant, id))
  asked[0]?.fail(new AppError('SERVICE_UNAVAILABLE', 'Usage cannot be read.'))
  const ends = await Promise.allSettled(all)
  expect(ends.map(each => each.status)).toEqual(['rejected', 'rejected', 'rejected'])
  const later = isUsed(tenant, 'd')
  asked[1]?.answer([])
  expect([await later, asked.length]).toEqual([false, 2])
})
