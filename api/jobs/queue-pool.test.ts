import { expect, test } from 'vitest'
import { QueuePool } from './queue-pool.ts'

test('a pool that has ended gives no connection, and giving it back does nothing', async () => {
  const pool = new QueuePool({ connectionString: 'postgres://nobody@127.0.0.1:1/nothing' })
  await pool.end()
  const refused = await new Promise<Error | undefined>(resolve => {
    pool.connect((error, client, release) => {
      expect(client).toBe(undefined)
      release()
      resolve(error)
    })
  })
  expect(refused?.message).toContain('after calling end on the pool')
})
