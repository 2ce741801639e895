// SETTINGS files: a tenant's own columns, chosen mappings, defaults, and whose usage is taken.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Jobs } from '../../../api/jobs/runner.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type FilesRig, type MeterParts, must, openFilesRig } from './rig.ts'

vi.setConfig({ testTimeout: 180_000 })

let rig: FilesRig
let jobs: Jobs
let one: MeterParts
let two: MeterParts
beforeAll(async () => {
  rig = await openFilesRig()
  jobs = await rig.startJobs()
  one = await rig.meter()
  two = await rig.meter()
})
afterAll(async () => {
  await jobs?.close()
  await rig?.close()
})

const unique = () => rig.tenant.seed.unique('s')
const tokensOf = (meter: MeterParts, more: object = { column: { number: 'amount' } }) => ({
  reference: `${meter.reference}.tokens`,
  ...more,
})
const mappingOf = (meter: MeterParts, more: object = {}) => ({
  meter_reference_mapping: { id: meter.id },
  ingest_reference_mapping: { column: 'ref' },
  meter_value_mappings: [tokensOf(meter)],
  ...more,
})
const settings = (meter_data: object, more: object = {}): Promise<Row> =>
  must(rig.tenant, 'POST', '/v1/file-processing-settings', {
    reference: unique(),
    type: 'METER_DATA',
    meter_data: { customer_reference_mapping: { column: 'account' }, ...meter_data },
    ...more,
  })
const run = async (text: string, by: Row, more: object = {}) => {
  const of = { processing_type: 'SETTINGS', file_processing_settings_id: by['id'], ...more }
  const { id } = await rig.upload(text, of)
  const file = await rig.finished(id)
  return { file, outcomes: await rig.outcomes(id) }
}
const eventOf = (reference: string) => must(rig.tenant, 'GET', `/v1/events/${reference}`)

test('a column chooses the mapping of each line, and so its meter', async () => {
  const u = unique()
  const by = await settings({
    mapping_column: 'kind',
    mappings: [mappingOf(one, { column_values: ['chat', 'completion'] }), mappingOf(two, { column_values: ['image'] })],
  })
  const { outcomes } = await run(
    `kind,account,ref,amount,ignored\nchat,acme,${u}-1,1,x\nimage,acme,${u}-2,2,x\ncompletion,acme,${u}-3,3,x\nvideo,acme,${u}-4,4,x\n`,
    by,
  )
  expect(outcomes).toEqual([
    ['DONE', null],
    ['DONE', null],
    ['DONE', null],
    ['ERROR', 'No mapping is for "video" in the column "kind".'],
  ])
  await rig.counted(u)
  const meters = await Promise.all([1, 2, 3].map(async at => (await eventOf(`${u}-${at}`))['meter_id']))
  expect(meters).toEqual([one.id, two.id, one.id])
})

test('a mapping without values of its own is of the lines no other names, and the meter may stand in a column', async () => {
  const u = unique()
  const by = await settings({
    mapping_column: 'kind',
    mappings: [
      mappingOf(one, { column_values: ['chat'] }),
      mappingOf(two, { meter_reference_mapping: { column: 'meter' } }),
    ],
  })
  const { outcomes } = await run(
    `kind,meter,account,ref,amount\nchat,none,acme,${u}-1,1\nany,${two.reference},acme,${u}-2,2\nany,,acme,${u}-3,2\nany,unknown,acme,${u}-4,2\n`,
    by,
  )
  expect(outcomes.map(([status]) => status)).toEqual(['DONE', 'DONE', 'ERROR', 'ERROR'])
  expect(outcomes[2]?.[1]).toBe('The line names no meter.')
  expect(outcomes[3]?.[1]).toContain('There is no active meter "unknown"')
  expect(await rig.counted(u)).toEqual({ [`${u}-1`]: '1', [`${u}-2`]: '2' })
})

test('defaults stand for absent columns and for empty fields, each for its own', async () => {
  const u = unique()
  const model = { reference: `${one.reference}.model` }
  const cost = {
    reference: `${one.reference}.cost`,
    column: { amount: { quantity: 'price' } },
    default_value: { amount: { currency: { absent_column: 'EUR' }, quantity: { empty_field: '0.10' } } },
  }
  const by = await settings({
    mappings: [
      mappingOf(one, {
        ingest_reference_mapping: { column: 'ref', prefix: { column: 'batch' } },
        meter_property_mappings: [
          { ...model, column: 'model', default_value: { absent_column: 'unknown', empty_field: 'none' } },
        ],
        meter_value_mappings: [tokensOf(one, { default_value: { number: { absent_column: '1' } } }), cost],
      }),
    ],
  })
  await run(`batch,ref,account,model,price\n${u}-,1,acme,,\n${u}-,2,acme,big,2.50\n,${u}-3,acme,small,3\n`, by)
  await run(`batch,ref,account,price\n${u}-,4,acme,1\n`, by)
  expect(await rig.counted(u)).toEqual({ [`${u}-1`]: '1', [`${u}-2`]: '1', [`${u}-3`]: '1', [`${u}-4`]: '1' })
  const of = async (at: number) => {
    const { meter_properties: properties, meter_values: values } = await eventOf(`${u}-${at}`)
    return [properties[0].value, values.find((value: Row) => value['amount'])?.amount]
  }
  expect(await of(1)).toEqual(['none', { quantity: '0.1', currency: 'EUR' }])
  expect(await of(2)).toEqual(['big', { quantity: '2.5', currency: 'EUR' }])
  expect((await of(4))[0]).toBe('unknown')
})

test('usage of excluded customers, and of those not included, is SKIPPED, by whichever name', async () => {
  const u = unique()
  const customer = await must(rig.tenant, 'POST', '/v1/customers', { reference: `${u}-in`, type: 'INDIVIDUAL' })
  const text = (from: number) => `account,ref,amount\n${u}-in,${u}-${from},1\n${u}-out,${u}-${from + 1},2\n`
  const excluding = await settings({ mappings: [mappingOf(one)] }, { excluded_customers: [{ reference: `${u}-out` }] })
  const including = await settings({ mappings: [mappingOf(one)] }, { included_customers: [{ id: customer['id'] }] })
  const skipped = ['SKIPPED', 'Usage of this customer is not taken, by the file processing settings.']
  expect((await run(text(1), excluding)).outcomes).toEqual([['DONE', null], skipped])
  expect((await run(text(3), including)).outcomes).toEqual([['DONE', null], skipped])
  expect(await rig.counted(u)).toEqual({ [`${u}-1`]: '1', [`${u}-3`]: '1' })
})

test('a header without what the settings name is an ERROR that names the column', async () => {
  const by = await settings({ mapping_column: 'kind', mappings: [mappingOf(one, { column_values: ['a'] })] })
  for (const missing of ['kind', 'account', 'ref', 'amount']) {
    const header = ['kind', 'account', 'ref', 'amount'].filter(name => name !== missing)
    const { file } = await run(`${header.join(',')}\n`, by)
    expect([file['status'], file['message']]).toEqual(['ERROR', expect.stringContaining(`"${missing}"`)])
  }
  const without = await settings({ mappings: [mappingOf(one)], customer_reference_mapping: null })
  expect((await run('ref,amount\n', without)).file['message']).toContain('No line names a customer')
})
