import { expect, test } from 'vitest'
import { type Bucket, bucketKey } from '../outcome.ts'
import { createDirtyBuckets } from './dirty-buckets.ts'

const bucket = (customerKey: string, meterReference = 'm'): Bucket => ({
  platformId: 'p',
  environment: 'TEST',
  customerKey,
  meterReference,
  hour: 0,
})
const mark = (customerKey: string) => ({ bucket: bucket(customerKey), partition: 0, seq: 1 })

test('a bucket touched again waits again; the longest quiet comes first', () => {
  const dirty = createDirtyBuckets()
  dirty.touch([mark('a'), mark('b'), mark('c')], 100)
  dirty.touch([mark('a')], 200)
  expect(dirty.takeQuiet(150, 10)).toEqual([bucket('b'), bucket('c')])
  expect(dirty.takeQuiet(150, 10)).toEqual([])
  expect(dirty.takeQuiet(201, 10)).toEqual([bucket('a')])
  expect(dirty.count()).toBe(0)
})

test('memory is bounded, and says once that it forgot', () => {
  const dirty = createDirtyBuckets(2)
  dirty.touch([mark('a'), mark('b'), mark('c')], 100)
  expect(dirty.count()).toBe(2)
  expect(dirty.takeOverflow()).toBe(true)
  expect(dirty.takeOverflow()).toBe(false)
})

test('a bucket found by a scan does not shorten the wait of one being touched', () => {
  const dirty = createDirtyBuckets()
  dirty.touch([mark('a')], 200)
  dirty.add([bucket('a'), bucket('b')], 100)
  expect(dirty.takeQuiet(150, 10)).toEqual([])
  expect(dirty.takeQuiet(250, 10)).toEqual([bucket('a'), bucket('b')])
})

test('no two buckets share a key, whatever their names hold', () => {
  expect(bucketKey(bucket('b/c', 'a'))).not.toBe(bucketKey(bucket('c', 'a/b')))
})
