// The chain as a function of its records: what holds holds, and nothing that is done to a record goes unseen.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ChainedRecord, checkHead, checkRecords, hashRecord, NO_RECORD, type StoredRecord } from './chain.ts'

const START = { ...NO_RECORD, position: '0' }
const text = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('', '-', '1:', '2:ab', 'é', '1:a-'))
const optional = fc.option(text, { nil: null })
const record = fc.record({
  platform_id: fc.constant('plat_1'),
  environment: fc.constant('LIVE'),
  id: text,
  created_at: fc.constant('2026-01-31T00:00:00.000001Z'),
  user_id: optional,
  user_name: optional,
  impersonated_user_id: optional,
  impersonated_user_name: optional,
  credential_id: optional,
  ip: optional,
  target_resource_type: text,
  target_id: text,
  action: text,
  message: text,
  changed_fields: fc.array(text, { maxLength: 3 }),
  request_id: optional,
  idempotency_key: optional,
})
type Said = Omit<ChainedRecord, 'sequence' | 'position'>

function chainOf(said: readonly Said[]): StoredRecord[] {
  let previous = NO_RECORD.hash
  return said.map((each, index) => {
    const whole: ChainedRecord = { ...each, sequence: String(index + 1), position: String((index + 1) * 3) }
    const stored = { ...whole, previous_hash: previous, hash: hashRecord(previous, whole) }
    previous = stored.hash
    return stored
  })
}

const faultsOf = (chain: readonly StoredRecord[], kept: readonly StoredRecord[]) => {
  const { faults, last } = checkRecords(START, chain)
  return [...faults, ...checkHead(last, kept.at(-1) ?? null)]
}

test('a chain that nobody touched holds, read whole or in parts', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 8 }), fc.nat(8), (said, cut) => {
      const chain = chainOf(said)
      expect(faultsOf(chain, chain)).toEqual([])
      const first = checkRecords(START, chain.slice(0, cut))
      const second = checkRecords(first.last, chain.slice(cut))
      expect([...first.faults, ...second.faults, ...checkHead(second.last, chain.at(-1) ?? null)]).toEqual([])
    }),
  )
})

test('whatever one record says instead, it shows', () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), record, fc.nat(4), (said, other, at) => {
      const chain = chainOf(said)
      const index = at % chain.length
      const tampered = chain.map((each, place) => (place === index ? { ...each, ...other } : each))
      fc.pre(JSON.stringify(tampered) !== JSON.stringify(chain))
      expect(faultsOf(tampered, chain)).toContainEqual(expect.objectContaining({ kind: 'CHANGED' }))
    }),
  )
})

test('text moved from one field to the next is another record', () => {
  const [base] = chainOf([fc.sample(record, 1)[0] as Said])
  if (!base) throw new Error('a chain of one')
  const one = hashRecord('x', { ...base, request_id: 'ab', idempotency_key: null, changed_fields: ['a', 'b'] })
  expect(hashRecord('x', { ...base, request_id: null, idempotency_key: 'ab', changed_fields: ['a', 'b'] })).not.toBe(
    one,
  )
  expect(hashRecord('x', { ...base, request_id: 'ab', idempotency_key: null, changed_fields: ['a1:b'] })).not.toBe(one)
})

const five = () => chainOf(fc.sample(record, 5))
test.each<[string, (chain: StoredRecord[]) => unknown[], string]>([
  ['the first is gone', chain => chain.slice(1), 'MISSING'],
  ['one in the middle is gone', chain => chain.toSpliced(2, 1), 'MISSING'],
  ['the last is gone', chain => chain.slice(0, -1), 'MISSING'],
  ['all are gone', () => [], 'MISSING'],
  [
    'two changed places, numbers and all',
    chain => {
      const [second, third] = [chain[1], chain[2]] as [StoredRecord, StoredRecord]
      return chain.with(1, { ...third, sequence: '2' }).with(2, { ...second, sequence: '3' })
    },
    'CHANGED',
  ],
  [
    'one was changed and hashed anew',
    chain => {
      const changed = { ...(chain[2] as StoredRecord), message: 'nothing happened' }
      return chain.with(2, { ...changed, hash: hashRecord(changed.previous_hash, changed) })
    },
    'UNLINKED',
  ],
  [
    'all from one on were hashed anew, and the head was not',
    chain => chainOf(chain.map((each, index) => (index > 2 ? { ...each, message: 'nothing happened' } : each))),
    'HEAD',
  ],
  [
    'one was made before the one it follows',
    chain => {
      const late = { ...(chain[4] as StoredRecord), position: '1' }
      return chain.with(4, { ...late, hash: hashRecord(late.previous_hash, late) })
    },
    'OUT_OF_ORDER',
  ],
])('%s', (_what, tamper, kind) => {
  const chain = five()
  expect(faultsOf(tamper(chain) as StoredRecord[], chain).map(fault => fault.kind)).toContain(kind)
})
