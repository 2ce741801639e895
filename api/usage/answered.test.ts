import { expect, test } from 'vitest'
import { AppError } from '../../shared/errors.ts'
import { createClickHouse } from '../../shared/usage/clickhouse.ts'
import { usageAnswer } from './answered.ts'

test('a ClickHouse or a broker that is away is a refusal that says when to send the call again', async () => {
  const client = createClickHouse('http://127.0.0.1:1', 'none')
  // As the client of the broker throws it.
  const timeout = Object.assign(new Error('timeout'), { name: 'TimeoutError' })
  for (const ask of [() => client.command({ query: 'select 1' }), () => Promise.reject(timeout)])
    await expect(usageAnswer<unknown>(ask())).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      status: 503,
      details: { retryAfterSeconds: 2 },
    })
  await client.close()
})

test('a bug stays a bug, and a refusal the refusal it is', async () => {
  const bug = new TypeError('x is not a function')
  await expect(usageAnswer(Promise.reject(bug))).rejects.toBe(bug)
  const refusal = new AppError('INVALID_OPERATION', 'No.')
  await expect(usageAnswer(Promise.reject(refusal))).rejects.toBe(refusal)
})
