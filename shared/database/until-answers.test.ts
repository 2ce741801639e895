import { expect, test } from 'vitest'
import { silentLogger } from '../process/logger.ts'
import { untilDatabaseAnswers } from './until-answers.ts'

const errorOf = (code: string) => Object.assign(new Error(code), { code })

test.each(['ECONNREFUSED', '57P03', '57P01'])('%s is waited out', async code => {
  let asked = 0
  const ask = async () => {
    asked += 1
    if (asked < 3) throw errorOf(code)
    return 'there'
  }
  expect(await untilDatabaseAnswers(ask, silentLogger)).toBe('there')
})

test('a server that stays away is an error in the end, and any other error at once', async () => {
  const away = () => Promise.reject(errorOf('ECONNREFUSED'))
  await expect(untilDatabaseAnswers(away, silentLogger, 600)).rejects.toThrow('ECONNREFUSED')
  let asked = 0
  const wrong = () => {
    asked += 1
    return Promise.reject(errorOf('28P01'))
  }
  await expect(untilDatabaseAnswers(wrong, silentLogger)).rejects.toThrow('28P01')
  expect(asked).toBe(1)
})
