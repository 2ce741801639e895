// Files from upload to counted events: every status of a file and of a line, by the rules of events and no others.

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Jobs } from '../../../api/jobs/runner.ts'
import { noticesOf } from '../../../api/testing/notices.ts'
import { type FilesRig, type MeterParts, must, openFilesRig } from './rig.ts'

vi.setConfig({ testTimeout: 180_000 })

let rig: FilesRig
let jobs: Jobs
let meter: MeterParts
beforeAll(async () => {
  rig = await openFilesRig()
  jobs = await rig.startJobs()
  meter = await rig.meter()
})
afterAll(async () => {
  await jobs?.close()
  await rig?.close()
})

const of = (id = meter.id) => ({ meter_data: { meter_id: id } })
const run = async (text: string | Buffer, more: object = of()) => {
  const created = await rig.upload(text, more)
  expect(created['status']).toBe('UPLOADED')
  return await rig.finished(created['id'])
}
const unique = () => rig.tenant.seed.unique('u')

describe('DEFAULT', () => {
  test('the header of a meter names every column, and a filled in file becomes events', async () => {
    const m = meter.reference
    expect(meter.header).toBe(
      `reference,customer_reference,timestamp,meter_properties.${m}.model,meter_values.${m}.tokens.number,` +
        `meter_values.${m}.cost.amount.quantity,meter_values.${m}.cost.amount.currency\n`,
    )
    const u = unique()
    const file = await run(
      `\uFEFF${meter.header.replace('\n', '\r\n')}` +
        `${u}-1,acme,2026-01-31T10:00:00Z,"a ""quoted"", model",5,1.50,EUR\r\n` +
        `${u}-2,acme,,"two\nlines",7,,\r\n\r\n` +
        `${u}-3,acme,2026-01-31T10:00:00+01:00,,9,,`,
    )
    expect(file).toMatchObject({
      status: 'DONE',
      number_of_lines: 3,
      message: null,
      lines: { imported: 0, done: 3, skipped: 0, error: 0 },
    })
    expect(file['column_headers']).toEqual(meter.header.trim().split(','))
    expect(await rig.counted(u)).toEqual({ [`${u}-1`]: '5', [`${u}-2`]: '7', [`${u}-3`]: '9' })
    const event = await must(rig.tenant, 'GET', `/v1/events/${u}-1`)
    expect(event).toMatchObject({
      customer_reference: 'acme',
      timestamp: '2026-01-31T10:00:00Z',
      meter_properties: [{ reference: `${m}.model`, value: 'a "quoted", model' }],
    })
    const withoutTime = await must(rig.tenant, 'GET', `/v1/events/${u}-2`)
    expect(Date.parse(withoutTime['timestamp'])).toBeGreaterThan(Date.now() - 60_000)
  })

  test('a line that cannot be an event is an ERROR of that line, in words of the file, and spoils no other', async () => {
    const u = unique()
    const m = meter.reference
    const lines = [
      `${u}-1,acme,,,1,,`,
      `${u}-2,acme,,,one,,`, // the gateway refuses these six
      `${u}-3,acme,yesterday,,1,,`,
      `${u}-4,acme,${new Date(Date.now() + 3_600_000).toISOString()},,1,,`,
      `${u}-5,acme,,,1,1.5,Euro`,
      `${u}-6,acme,,,,,`,
      `${'x'.repeat(256)},acme,,,1,,`,
      `,acme,,,1,,`, // and these are no events at all
      `${u}-9,,,,1,,`,
      `${u}-10,acme,,,1`,
      `${u}-11,ac"me,,,1,,`,
      `${u}-12,acme,,,12,,`,
    ]
    const file = await run(`${meter.header}${lines.join('\n')}\n`)
    expect(file).toMatchObject({ status: 'DONE', lines: { imported: 0, done: 2, skipped: 0, error: 10 } })
    const outcomes = await rig.outcomes(file['id'])
    expect(outcomes.map(([status]) => status)).toEqual(['DONE', ...Array(10).fill('ERROR'), 'DONE'])
    expect(outcomes.map(([, message]) => message)).toEqual([
      null,
      expect.stringContaining(`meter_values.${m}.tokens.number: Expected a decimal number`),
      expect.stringContaining('timestamp: Expected an ISO 8601 time'),
      expect.stringContaining('30 minutes ahead'),
      expect.stringContaining(`meter_values.${m}.cost.amount.currency: Expected a currency`),
      expect.stringContaining('requires'),
      expect.stringContaining('1 to 255 characters at reference'),
      expect.stringContaining('no reference'),
      expect.stringContaining('no customer'),
      'The line has 5 fields and the header 7 columns.',
      expect.stringContaining('not well-formed'),
      null,
    ])
    expect(await rig.counted(u)).toEqual({ [`${u}-1`]: '1', [`${u}-12`]: '12' })
  })

  test('a reference that was used, in the file or before it, is SKIPPED; the first counts', async () => {
    const u = unique()
    const event = { reference: `${u}-old`, customer_reference: 'acme', meter_id: meter.id }
    const value = [{ reference: `${meter.reference}.tokens`, number: '100' }]
    const sent = await fetch(`${rig.gatewayUrl}/v1/events/ingest`, {
      method: 'POST',
      headers: { 'x-api-key': rig.tenant.key, 'content-type': 'application/json' },
      body: JSON.stringify({ ...event, meter_values: value }),
    })
    expect(sent.status).toBe(201)
    const text = `${meter.header}${u}-1,acme,,,1,,\n${u}-1,other,,,2,,\n${u}-old,acme,,,3,,\n`
    const file = await run(text)
    const outcomes = await rig.outcomes(file['id'])
    expect(outcomes).toEqual([
      ['DONE', null],
      ['SKIPPED', 'Line 1 of this file has the same reference.'],
      ['SKIPPED', 'There is an event with this reference already.'],
    ])
    const again = await run(text)
    expect(again['lines']).toEqual({ imported: 0, done: 0, skipped: 3, error: 0 })
    expect(await rig.counted(u)).toEqual({ [`${u}-1`]: '1', [`${u}-old`]: '100' })
  })

  test('the customer of the file is that of the lines that name none, its time that of every line', async () => {
    const u = unique()
    const customer = await must(rig.tenant, 'POST', '/v1/customers', { reference: u, type: 'INDIVIDUAL' })
    const file = await run(
      `reference,timestamp,meter_values.${meter.reference}.tokens.number\n${u}-1,2026-01-01T00:00:00Z,4\n`,
      {
        customer_id: customer['id'],
        meter_data: { meter_id: meter.id, override_ingest_timestamp: '2026-02-01T00:00:00Z' },
      },
    )
    expect(file['lines'].done).toBe(1)
    expect(await rig.counted(u)).toEqual({ [`${u}-1`]: '4' })
    const event = await must(rig.tenant, 'GET', `/v1/events/${u}-1`)
    expect(event).toMatchObject({ customer_id: customer['id'], timestamp: '2026-02-01T00:00:00Z' })
  })
})

describe('a file that cannot be read is an ERROR and has sent nothing', () => {
  const good = () => `${meter.header}ok-${unique()},acme,,,1,,\n`
  test.each([
    ['empty', () => '', /empty/],
    ['only a mark', () => '\uFEFF', /empty/],
    ['UTF-16', () => Buffer.from(`\uFEFF${meter.header}`, 'utf16le'), /UTF-16/],
    [
      'Latin-1 in a line',
      () => Buffer.concat([Buffer.from(good()), Buffer.from('é,b,c\n', 'latin1')]),
      /Line 2 is not UTF-8/,
    ],
    ['semicolons', () => 'reference;customer_reference\na;b\n', /commas, not by semicolons/],
    [
      'a column of no meaning',
      () => 'reference,customer_reference,colour\na,b,c\n',
      /"colour" is none of this meter's/,
    ],
    ['no reference', () => 'customer_reference\nb\n', /lacks the column "reference"/],
    ['no customer', () => 'reference\nb\n', /lacks the column "customer_reference"/],
    ['a column twice', () => 'reference,customer_reference,reference\na,b,c\n', /"reference" twice/],
    ['a column without a name', () => 'reference,,customer_reference\na,b,c\n', /Column 2 of the header has no name/],
    [
      'half an amount',
      () => `reference,customer_reference,meter_values.${meter.reference}.cost.amount.quantity\n`,
      /amount.currency/,
    ],
    ['an open quote', () => `${good()}x,"acme,,,1,,\n`, /never closed/],
    ['a line too long', () => `${good()}x,${'y'.repeat(70_000)},,,1,,\n`, /longer than 65536 bytes/],
    ['1,001 columns', () => Array.from({ length: 1_001 }, (_, at) => `c${at}`).join(','), /at most 1000/],
    ['CR alone', () => 'reference,customer_reference\ra,b\r', /LF or CRLF/],
    ['a malformed header', () => 'reference,"customer"_reference\na,b\n', /header cannot be read/],
  ])('%s', async (_name, text, message) => {
    const file = await run(text())
    expect(file['status']).toBe('ERROR')
    expect(file['message']).toMatch(message)
    expect(file['lines'].done).toBe(0)
  })

  test('a header alone is a file of no lines', async () => {
    expect(await run(meter.header)).toMatchObject({ status: 'DONE', number_of_lines: 0 })
  })
})

test('every change of a file leaves its event, in order', async () => {
  const file = await run(`${meter.header}${unique()},acme,,,1,,\n`)
  const events = await noticesOf(rig.api, file['id'])
  expect(events.map(event => event['type'])).toEqual(['FILE.CREATED', ...Array(6).fill('FILE.UPDATED')])
  expect(events.map(event => event['data'].status)).toEqual([
    'CREATED',
    'UPLOADED',
    'IMPORTING',
    'IMPORTED',
    'TO_BE_PROCESSED',
    'PROCESSING',
    'DONE',
  ])
  expect(events.at(-1)?.['previous_data'].status).toBe('PROCESSING')
  expect(JSON.stringify(events)).not.toContain('upload_id')
})
