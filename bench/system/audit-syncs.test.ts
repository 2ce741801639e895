import { expect, test } from 'vitest'
import { auditSyncs } from './audit-syncs.ts'

const write = '7 pwrite64(11</s/1.blk>, "..usage.0message-1..", 46, 0) = 46'
const sync = '7 fsync(11</s/1.blk>) = 0'
const ack = String.raw`7 writev(9<socket:[1]>, [{iov_base="MSG _I 1 28\r\n{\"stream\":\"USAGE_0\",\"seq\":1}\r\n"}], 1) = 79`
const published = [{ text: 'message-1', stream: 'USAGE_0', seq: 1 }]
const faultsOf = (...lines: string[]) => auditSyncs(lines.join('\n'), published).faults

test('written, synced, acknowledged is right; every other order is found', () => {
  expect(faultsOf(write, sync, ack)).toEqual([])
  expect(faultsOf(write, ack, sync)).toEqual(['message-1 (USAGE_0 1) was acknowledged before it was synced'])
  expect(faultsOf(sync, write, ack)).toHaveLength(1)
  expect(faultsOf(write, sync.replace('1.blk', '2.blk'), ack)).toHaveLength(1)
  expect(faultsOf(write, sync)).toEqual(['message-1 has no ack in the trace'])
})

test('a sync counts from its end, and covers what was written before it began', () => {
  const begins = '8 fsync(11</s/1.blk> <unfinished ...>'
  const ends = '8 <... fsync resumed>) = 0'
  expect(faultsOf(write, begins, ends, ack)).toEqual([])
  expect(faultsOf(write, begins, ack, ends)).toHaveLength(1)
  expect(faultsOf(begins, write, ends, ack)).toHaveLength(1)
})
