import { expect, test } from 'vitest'
import { isUnavailable } from '../database/driver-errors.ts'
import { silentLogger } from './logger.ts'
import { untilAnswers } from './until-answers.ts'

const errorOf = (code: string) => Object.assign(new Error(code), { code })
const waited = { server: 'PostgreSQL', isAway: isUnavailable, logger: silentLogger } as const

test.each(['ECONNREFUSED', '57P03', '57P01'])('%s is waited out', async code => {
  let asked = 0
  const ask = async () => {
    asked += 1
    if (asked < 3) throw errorOf(code)
    return 'there'
  }
  expect(await untilAnswers(ask, waited)).toBe('there')
})

test('a stop ends the wait, and nothing is asked after it', async () => {
  const stopping = new AbortController()
  let asked = 0
  const away = () => {
    asked += 1
    // The stop comes in the pause after this question.
    setImmediate(() => stopping.abort(new Error('stopped')))
    return Promise.reject(errorOf('ECONNREFUSED'))
  }
  await expect(untilAnswers(away, { ...waited, stop: stopping.signal })).rejects.toThrow('stopped')
  await expect(untilAnswers(away, { ...waited, stop: stopping.signal })).rejects.toThrow('stopped')
  expect(asked).toBe(1)
})

test('a server that stays away is an error in the end, and any other error at once', async () => {
  const away = () => Promise.reject(errorOf('ECONNREFUSED'))
  await expect(untilAnswers(away, { ...waited, patienceMs: 600 })).rejects.toThrow('ECONNREFUSED')
  let asked = 0
  const wrong = () => {
    asked += 1
    return Promise.reject(errorOf('28P01'))
  }
  await expect(untilAnswers(wrong, waited)).rejects.toThrow('28P01')
  expect(asked).toBe(1)
})
