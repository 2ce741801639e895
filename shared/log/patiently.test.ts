import { errors } from '@nats-io/transport-node'
import { expect, test } from 'vitest'
import { patiently } from './patiently.ts'

test('a question nobody answers is asked again, and one that is refused is not', async () => {
  let asked = 0
  const answer = await patiently(async () => {
    asked += 1
    if (asked === 1) throw new errors.TimeoutError()
    return 'led'
  })
  expect([answer, asked]).toEqual(['led', 2])
  const refused = () => {
    asked += 1
    return Promise.reject(new Error('PARTITIONS=3 does not match'))
  }
  await expect(patiently(refused)).rejects.toThrow(/does not match/)
  expect(asked).toBe(3)
})
