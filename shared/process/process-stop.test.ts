import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { silentLogger } from './logger.ts'
import { stopSignal } from './process-stop.ts'

/** The surroundings of a process that notes its end. */
function surroundings() {
  const codes: unknown[] = []
  const exit = (code?: unknown): never => {
    codes.push(code)
    return undefined as never
  }
  return { codes, process: Object.assign(new EventEmitter(), { exit }) as unknown as NodeJS.Process }
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s asks for the stop, and a stop that does not end is ended',
  async signal => {
    const { codes, process } = surroundings()
    const stopped = stopSignal(silentLogger, { surroundings: process, graceMs: 1 })
    process.emit(signal, signal)
    await stopped
    await expect.poll(() => codes).toEqual([1])
  },
)

test('a second signal neither ends the process nor begins another stop', async () => {
  const { codes, process } = surroundings()
  const stopped = stopSignal(silentLogger, { surroundings: process, graceMs: 1 })
  // Without a listener Node ends the process.
  for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM', 'SIGTERM'] as const)
    expect(process.emit(signal, signal)).toBe(true)
  await stopped
  await expect.poll(() => codes).toEqual([1])
})

test('without a signal nothing ends', async () => {
  const { codes, process } = surroundings()
  const stopped = stopSignal(silentLogger, { surroundings: process, graceMs: 0 })
  expect(await Promise.race([stopped.then(() => 'stopped'), new Promise(resolve => setImmediate(resolve))])).toBe(
    undefined,
  )
  expect(codes).toEqual([])
})
