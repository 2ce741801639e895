// What file processing settings may say of the columns of a file.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import { type ApiHarness, startApi, type TestTenant } from '../../../testing/harness.ts'
import { noticeTypesOf } from '../../../testing/notices.ts'
import { fileProcessingSettingsResource } from './file-processing-settings.ts'

let api: ApiHarness
let tenant: TestTenant
beforeAll(async () => {
  api = await startApi()
  tenant = api.tenants.aLive
})
afterAll(() => api?.close())

describe('file processing settings', () => {
  const mapping = (more: object = {}) => ({
    meter_reference_mapping: { reference: 'calls' },
    ingest_reference_mapping: { column: 'ref' },
    ...more,
  })
  const value = { reference: 'tokens', column: { number: 'n' } }
  test.each([
    ['bucket_location', { bucket_location: 's3://x' }, 'bucket_location'],
    ['download_settings', { download_settings: {} }, 'download_settings'],
    ['no mappings', { meter_data: { mappings: [] } }, 'meter_data.mappings'],
    [
      'a custom field',
      { meter_data: { mappings: [mapping()], customer_reference_mapping: { column: 'c', custom_field: 'x' } } },
      'meter_data.customer_reference_mapping.custom_field',
    ],
    [
      'values without a column to choose by',
      { meter_data: { mappings: [mapping({ column_values: ['a'] })] } },
      'meter_data.mappings.0.column_values',
    ],
    [
      'two mappings of one value',
      {
        meter_data: {
          mapping_column: 'k',
          mappings: [mapping({ column_values: ['a'] }), mapping({ column_values: ['a'] })],
        },
      },
      'meter_data.mappings.1.column_values',
    ],
    [
      'two mappings of the rest',
      { meter_data: { mappings: [mapping(), mapping()] } },
      'meter_data.mappings.1.column_values',
    ],
    [
      'a meter by two names',
      { meter_data: { mappings: [mapping({ meter_reference_mapping: { column: 'm', reference: 'x' } })] } },
      'meter_data.mappings.0.meter_reference_mapping.column',
    ],
    [
      'a value without a source',
      { meter_data: { mappings: [mapping({ meter_value_mappings: [{ reference: 'tokens' }] })] } },
      'meter_data.mappings.0.meter_value_mappings.0.column',
    ],
    [
      'half an amount',
      {
        meter_data: {
          mappings: [mapping({ meter_value_mappings: [{ reference: 'c', column: { amount: { quantity: 'q' } } }] })],
        },
      },
      'meter_data.mappings.0.meter_value_mappings.0.column',
    ],
    [
      'a property without a source',
      { meter_data: { mappings: [mapping({ meter_property_mappings: [{ reference: 'p' }] })] } },
      'meter_data.mappings.0.meter_property_mappings.0.column',
    ],
    ['a customer without a name', { included_customers: [{}] }, 'included_customers.0.id'],
  ])('refuses %s by name', async (_name, more, field) => {
    const body = {
      reference: tenant.seed.unique('set'),
      type: 'METER_DATA',
      meter_data: { mappings: [mapping({ meter_value_mappings: [value] })] },
      ...more,
    }
    expect(refusal(await tenant.call('POST', '/v1/file-processing-settings', body))).toEqual([
      400,
      'INVALID_FIELD',
      field,
    ])
  })

  test('are created, read, changed, and leave their events', async () => {
    const made = await tenant.seed.make(fileProcessingSettingsResource)
    const path = `/v1/file-processing-settings/${made['id']}`
    expect((await tenant.call('GET', path)).body).toEqual(made)
    const changed = await tenant.call('PATCH', path, {
      excluded_customers: [],
      meter_data: { mappings: made['meter_data'].mappings, customer_reference_mapping: { column: 'c' } },
    })
    expect(changed.body).toMatchObject({
      excluded_customers: [],
      meter_data: { customer_reference_mapping: { column: 'c' } },
    })
    expect(changed.body['meter_data'].mappings).toEqual(made['meter_data'].mappings)
    expect(await noticeTypesOf(api, made['id'])).toEqual([
      'FILE_PROCESSING_SETTINGS.CREATED',
      'FILE_PROCESSING_SETTINGS.UPDATED',
    ])
  })
})
