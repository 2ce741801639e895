import { expect, test } from 'vitest'
import { decodePlaces, decodeRequest, decodeStored, encodePlaces, encodeRequest, encodeStored } from './first-seen.ts'

const ID = '0123456789abcdef'.repeat(2)
const bytes = (text: string) => Buffer.from(text)

test('requests and answers read back as they were written', () => {
  for (const request of [
    { kind: 'places' as const, idHashes: [ID, ID] },
    { kind: 'event' as const, idHash: ID, platformId: 'plat_1', environment: 'TEST' as const },
  ])
    expect(decodeRequest(encodeRequest(request))).toEqual(request)
  expect(decodePlaces(encodePlaces([[7, 0], null]), 2)).toEqual([[7, 0], null])
  for (const line of ['["…"]', null]) expect(decodeStored(encodeStored(line))).toBe(line)
})

test.each([
  '',
  'null',
  '[]',
  '{"kind":"other"}',
  '{"kind":"places","idHashes":["short"]}',
  `{"kind":"places","idHashes":[${Array(1_001).fill(`"${ID}"`)}]}`,
  `{"kind":"event","idHash":"${ID}","platformId":"plat_1","environment":"OTHER"}`,
])('%.60s is no request', text => {
  expect(decodeRequest(bytes(text))).toBeNull()
})

test.each(['', '{"places":[[1,0]]}', '{"places":[[1],null]}', '{"places":[["1",0],null]}'])(
  '%s is no answer about two references',
  text => {
    expect(() => decodePlaces(bytes(text), 2)).toThrow('not an answer')
    expect(() => decodeStored(bytes(text))).toThrow('not an answer')
  },
)
