import { expect, test, vi } from 'vitest'
import { KEEP_ALIVE_SECONDS, limitIdleTime } from './server.ts'

test('a build of uWebSockets.js that takes both idle times gets them, and one that does not is warned of', () => {
  const logger = { warn: vi.fn() }
  const [setIdleTimeout, setResponseTimeout] = [vi.fn(), vi.fn()]
  limitIdleTime({ setIdleTimeout, setResponseTimeout }, logger)
  expect([setIdleTimeout.mock.calls, setResponseTimeout.mock.calls]).toEqual([[[10]], [[KEEP_ALIVE_SECONDS]]])
  expect(logger.warn).not.toHaveBeenCalled()
  limitIdleTime({ setIdleTimeout }, logger)
  limitIdleTime({}, logger)
  expect(logger.warn).toHaveBeenCalledTimes(2)
})
