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

test('a bucket touched again waits again', () => {
  const dirty = createDirtyBuckets()
  dirty.touch([bucket('a'), bucket('b'), bucket('c')], 100)
  dirty.touch([bucket('a')], 200)
  expect(dirty.takeQuiet(151, 1, 10)).toEqual([bucket('b'), bucket('c')])
  expect(dirty.takeQuiet(151, 1, 10)).toEqual([])
  expect(dirty.takeQuiet(201, 1, 10)).toEqual([bucket('a')])
  expect(dirty.count()).toBe(0)
})

test('of many that are quiet neighbours are taken together, and those that became quiet later wait for all of them', () => {
  const dirty = createDirtyBuckets()
  dirty.touch([bucket('c'), bucket('a', 'n'), bucket('b'), bucket('a')], 100)
  expect(dirty.takeQuiet(200, 50, 2)).toEqual([bucket('a'), bucket('a', 'n')])
  dirty.touch([bucket('a')], 200)
  expect(dirty.takeQuiet(300, 50, 2)).toEqual([bucket('b'), bucket('c')])
  expect(dirty.takeQuiet(300, 50, 2)).toEqual([bucket('a')])
})

test('a bucket that is touched while others are taken before it waits again', () => {
  const dirty = createDirtyBuckets()
  dirty.touch([bucket('a'), bucket('b'), bucket('c')], 100)
  expect(dirty.takeQuiet(200, 50, 1)).toEqual([bucket('a')])
  dirty.touch([bucket('b')], 200)
  expect(dirty.takeQuiet(210, 50, 2)).toEqual([bucket('c')])
  expect(dirty.count()).toBe(1)
  expect(dirty.takeQuiet(250, 50, 2)).toEqual([bucket('b')])
})

test('memory is bounded, and says once that it forgot', () => {
  const dirty = createDirtyBuckets(2)
  dirty.touch([bucket('a'), bucket('b'), bucket('c')], 100)
  expect(dirty.count()).toBe(2)
  expect(dirty.takeOverflow()).toBe(true)
  expect(dirty.takeOverflow()).toBe(false)
})

test('a bucket found by a scan does not shorten the wait of one being touched', () => {
  const dirty = createDirtyBuckets()
  dirty.touch([bucket('a')], 200)
  dirty.add([bucket('a'), bucket('b')], 100)
  expect(dirty.takeQuiet(151, 1, 10)).toEqual([])
  expect(dirty.takeQuiet(250, 1, 10)).toEqual([bucket('a'), bucket('b')])
})

test('a bucket at rest waits however quiet it is, and holds up no other', () => {
  const dirty = createDirtyBuckets()
  dirty.rest(bucket('a'), 500)
  dirty.touch([bucket('a'), bucket('b')], 100)
  expect(dirty.takeQuiet(400, 100, 10)).toEqual([bucket('b')])
  expect(dirty.takeQuiet(500, 100, 10)).toEqual([bucket('a')])
})

test('a bucket whose hour runs must be quiet for longer, and holds up no other', () => {
  const dirty = createDirtyBuckets()
  const [past, running] = [bucket('a'), { ...bucket('a'), hour: 3_600 }]
  const open = { fromMs: 3_600_000, quietMs: 500 }
  dirty.touch([running, past], 100)
  expect(dirty.takeQuiet(200, 100, 10, open)).toEqual([past])
  expect(dirty.takeQuiet(599, 100, 10, open)).toEqual([])
  expect(dirty.takeQuiet(600, 100, 10, open)).toEqual([running])
  dirty.touch([running], 700)
  expect(dirty.takeQuiet(800, 100, 10, { ...open, fromMs: 3_600_001 })).toEqual([running])
})

test('no two buckets share a key, whatever their names hold', () => {
  expect(bucketKey(bucket('b/c', 'a'))).not.toBe(bucketKey(bucket('c', 'a/b')))
})
