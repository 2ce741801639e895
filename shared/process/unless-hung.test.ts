import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createUnlessHung, HungError } from './unless-hung.ts'

const TIMES = { quietMs: 20, probeMs: 30 }
const never = () => new Promise<never>(() => undefined)

test('a long answer of a server that answers the small question is waited for, however long it takes', async () => {
  let answer: (value: string) => void = () => undefined
  const late = new Promise<string>(resolve => (answer = resolve))
  const probe = vi.fn(async () => {
    // So long that it was tried more than once.
    if (probe.mock.calls.length === 3) setImmediate(answer, 'late')
  })
  const guard = createUnlessHung('It', probe, TIMES)
  expect(await guard.answerOf(late, () => expect.fail('abandoned'))).toBe('late')
  expect(probe).toHaveBeenCalledTimes(3)
})

test.each([
  ['is silent', never],
  ['fails', () => Promise.reject(new Error('refused'))],
])(
  'a server that %s: every question is given up and freed, and one small question is asked for all',
  async (_name, probe) => {
    let probes = 0
    const guard = createUnlessHung(
      'It',
      () => {
        probes += 1
        return probe()
      },
      TIMES,
    )
    const abandoned: unknown[] = []
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, () => guard.answerOf(never(), reason => abandoned.push(reason))),
    )
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: new HungError('It does not answer') })
    expect(abandoned).toHaveLength(50)
    // One that fails at once is over before the next asks.
    if (probe === never) expect(probes).toBe(1)
  },
)

test('an answer or a failure that comes in time is passed on, and the server is not tried', async () => {
  const probe = vi.fn(async () => undefined)
  const guard = createUnlessHung('It', probe, TIMES)
  const abandon = () => expect.fail('abandoned')
  expect(await guard.answerOf(Promise.resolve(1), abandon)).toBe(1)
  await expect(guard.answerOf(Promise.reject(new Error('its own')), abandon)).rejects.toThrow('its own')
  await sleep(60)
  expect(probe).not.toHaveBeenCalled()
})
