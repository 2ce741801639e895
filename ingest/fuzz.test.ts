// F24 and A18 to A21 of the tables of faults and attacks: whatever a body holds, it is taken or refused, and nothing else.
// FUZZ_CASES and FUZZ_SEED run more of it, or the same again.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { decodeEvent } from '../shared/contracts/usage-event.ts'
import { decimal } from '../shared/decimal.ts'
import { createHandlerRig } from './testing/handler-rig.ts'
import { hostileBody } from './testing/hostile-bodies.ts'
import { randomOf } from './testing/random.ts'
import { goodEvent } from './testing/samples.ts'

const CASES = Number(process.env['FUZZ_CASES'] ?? 60_000)
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_260_131)
const HEAP_GROWTH_BYTES_MAX = 8 * 1024 * 1024

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const heapUsed = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

type View = { reference: string; id: string }
const viewsOf = (body: string): View[] => {
  const value: unknown = JSON.parse(body)
  const wrapped = value as { meter_datas?: View[] }
  return Array.isArray(value) ? (value as View[]) : (wrapped.meter_datas ?? [value as View])
}

test(`F24: ${CASES} hostile bodies: 201 or 4xx, what is taken reads back, and the heap stays flat`, async () => {
  const rig = createHandlerRig()
  const random = randomOf(SEED)
  const statuses = new Map<number, number>()
  let heapAtHalf = 0
  for (let each = 0; each < CASES; each += 1) {
    if (each === CASES >> 1) heapAtHalf = heapUsed()
    const body = hostileBody(random)
    const form = random() < 0.5 ? 'single' : 'list'
    const { status, body: answer, logged } = await rig.send(form, body)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const replay = () =>
      `FUZZ_SEED=${SEED}, case ${each}, ${form}: ${JSON.stringify(body.toString('latin1')).slice(0, 2_000)}`
    if (status !== 201 && (status < 400 || status > 499)) throw new Error(`answered ${status}: ${replay()}`)
    if (status !== 201 && logged.length > 0) throw new Error(`refused, and logged: ${replay()}`)
    if (status === 201) {
      const views = viewsOf(answer).map(({ id, reference }) => `${id} ${reference}`)
      const events = logged.map(decodeEvent).map(({ idHash, reference }) => `meda_${idHash} ${reference}`)
      if (views.join('\n') !== events.join('\n')) throw new Error(`the log has something else: ${replay()}`)
    }
  }
  expect(heapUsed() - heapAtHalf).toBeLessThan(HEAP_GROWTH_BYTES_MAX)
  // Both sides of the line are well visited.
  expect(statuses.get(201)).toBeGreaterThan(CASES / 20)
  expect(statuses.get(400)).toBeGreaterThan(CASES / 4)
  expect([...statuses.keys()].toSorted((a, b) => a - b)).toEqual([201, 400])
}, 600_000)

describe('refused with 400, the field named, and nothing logged', () => {
  const text = (changes: object) => JSON.stringify({ ...goodEvent(), ...changes })
  const number = (value: unknown) => text({ meter_values: [{ reference: 'tokens', number: value }] })
  const cases: [string, string, string | undefined][] = [
    ['A18: __proto__', text({}).replace('{', '{"__proto__":{"reference":"x"},'), '__proto__'],
    ['A18: constructor', text({}).replace('{', '{"constructor":{"prototype":{}},'), 'constructor'],
    ['A18: a key twice', text({}).replace('{', '{"reference":"a",'), undefined],
    ['A18: a key twice, once escaped', text({}).replace('{', '{"\\u0072eference":"a",'), undefined],
    ['A18: arrays 100,000 deep', '['.repeat(100_000) + ']'.repeat(100_000), undefined],
    ['A18: objects 40,000 deep', '{"a":'.repeat(40_000), undefined],
    ['A18: a lone surrogate', text({ reference: 'a\ud800' }), 'reference'],
    ['A18: NUL', text({ customer_reference: 'a\u0000b' }), 'customer_reference'],
    ...['1e400', 'NaN', '0x10', '', ' 1 ', '1,5', '١٢', '9'.repeat(10_000), '+1', '1.', '.1', '--1'].map(
      (value): [string, string, string] => [`A19: ${value.slice(0, 20)}`, number(value), 'meter_values.0.number'],
    ),
    ...[
      '2026-01-31T10:00:00',
      '0000-01-01T00:00:00Z',
      '9999-01-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
      '2026-06-30T23:59:60Z',
      '2026-01-31T10:00:00+15:00',
      '2026-01-31T12:30:01Z',
    ].map((value): [string, string, string] => [`A20: ${value}`, text({ timestamp: value }), 'timestamp']),
  ]
  test.each(cases)('%s', async (_name, body, field) => {
    const { status, body: answer, logged } = await createHandlerRig().send('single', Buffer.from(body))
    const error = JSON.parse(answer) as { field?: string; code: string; message: string }
    expect([status, error.field, logged.length]).toEqual([400, field, 0])
    expect(error.message).not.toBe('')
  })

  test('A19: -0 is 0', async () => {
    const { status, logged } = await createHandlerRig().send(
      'single',
      Buffer.from(
        text({
          meter_values: [{ reference: 'tokens', number: '-0' }],
          meter_properties: [{ reference: 'model', value: 'm' }],
        }),
      ),
    )
    expect(status).toBe(201)
    expect(decimal(logged.map(decodeEvent)[0]?.valueQuantities[0] ?? '').eq(decimal('0'))).toBe(true)
  })

  test('A21: a batch of 51 says what was sent and what is allowed; one bad event is named by its place', async () => {
    const rig = createHandlerRig()
    const send = async (list: unknown) => {
      const outcome = await rig.send('list', Buffer.from(JSON.stringify(list)))
      return { ...outcome, error: JSON.parse(outcome.body) as { field?: string; message: string } }
    }
    const many = await send(Array.from({ length: 51 }, goodEvent))
    expect([many.status, many.error.message, many.logged]).toEqual([400, expect.stringMatching(/51 .*50/), []])
    const bad = await send([goodEvent(), goodEvent(), { ...goodEvent(), reference: '' }])
    expect([bad.status, bad.error.field, bad.logged]).toEqual([400, '2.reference', []])
  })
})
