import { afterEach, expect, test } from 'vitest'
import { keepStacksReadable } from './readable-stacks.ts'

const map = Error.prepareStackTrace
afterEach(() => {
  if (map) Error.prepareStackTrace = map
  else Reflect.deleteProperty(Error, 'prepareStackTrace')
})

test('a stack that cannot be mapped is given as it is', () => {
  Error.prepareStackTrace = () => {
    throw new TypeError('the map is not a text')
  }
  keepStacksReadable()
  expect(new Error('the fault').stack).toMatch(/^Error: the fault\n {4}at .*readable-stacks\.test/)
})

test('one that can be mapped is mapped', () => {
  Error.prepareStackTrace = error => `mapped: ${error.message}`
  keepStacksReadable()
  expect(new Error('the fault').stack).toBe('mapped: the fault')
})
