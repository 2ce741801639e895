import { describe, expect, test } from 'vitest'
import type { TaxIdValidation } from '../tax-ids/schema.ts'
import { validationsIn, withValidations } from './each-validation.ts'
import { hasNewIds } from './jobs.ts'
import { answerOf } from './query-vies.ts'
import { viesNumber } from './vies-number.ts'

describe('an id as VIES is asked for it', () => {
  test.each<[string, string | null, string | null]>([
    ['NL004495445B01', 'NL', 'NL 004495445B01'],
    ['nl 0044.95.445.B01', 'NL', 'NL 004495445B01'],
    ['004495445B01', 'NL', 'NL 004495445B01'],
    ['DE136695976', 'NL', 'DE 136695976'],
    ['DE136695976', null, 'DE 136695976'],
    ['136695976', 'DE', 'DE 136695976'],
    ['EL094259216', 'GR', 'EL 094259216'],
    ['094259216', 'GR', 'EL 094259216'],
    ['XI980780684', 'GB', 'XI 980780684'],
    ['GB980780684', 'GB', null],
    ['CHE107787577MWST', 'CH', null],
    ['136695976', null, null],
    ['DE1', 'DE', null],
  ])('%s of %s: %s', async (id, country, expected) => {
    const found = await viesNumber({ id, type: 'GENERIC_TAX_ID', country })
    expect(found && `${found.memberState} ${found.number}`).toBe(expected)
  })

  test('of another type there is none', async () => {
    expect(await viesNumber({ id: 'DE136695976', type: 'CA_QST', country: 'DE' })).toBeNull()
  })
})

describe('what an answer says', () => {
  test.each<[string, number, string]>([
    ['{"isValid":true,"userError":"VALID"}', 200, 'VALID'],
    ['{"isValid":false,"userError":"INVALID"}', 200, 'NOT_VALID'],
    ['{"isValid":false}', 200, 'NOT_VALID'],
    ['{"isValid":false,"userError":"INVALID_INPUT"}', 200, 'NOT_VALID'],
    ['{"actionSucceed":false,"errorWrappers":[{"error":"INVALID_INPUT"}]}', 400, 'NOT_VALID'],
    ['{"isValid":false,"userError":"MS_UNAVAILABLE"}', 200, 'MS_UNAVAILABLE'],
    [
      '{"actionSucceed":false,"errorWrappers":[{"error":"GLOBAL_MAX_CONCURRENT_REQ"}]}',
      500,
      'GLOBAL_MAX_CONCURRENT_REQ',
    ],
    ['{"isValid":true}', 503, 'status 503'],
    ['{"isValid":"true"}', 200, 'status 200'],
    ['{"isValid":false,"userError":"<b>no</b>"}', 200, 'status 200'],
    ['null', 200, 'status 200'],
    ['[]', 502, 'status 502'],
    ['<html>', 502, 'an answer that is no JSON, with status 502'],
  ])('%s with %i: %s', (text, status, expected) => {
    const answer = answerOf(text, status)
    expect(answer.kind === 'FAILED' ? answer.reason : answer.kind).toBe(expected)
  })
})

const result = (id: string, more: Partial<TaxIdValidation> = {}): TaxIdValidation => ({
  id,
  validation_date: '2026-05-01T00:00:00Z',
  source: 'FORMAT',
  valid: 'UNKNOWN',
  message: 'The form is right.',
  ...more,
})
const organization = {
  tax_id: 'a',
  tax_id_validation_result: result('a'),
  registered_address: { country: 'NL' },
  tax_ids: [{ id: 'b', type: 'GENERIC_TAX_ID' as const, tax_id_validation_result: result('b') }],
  tax_registrations: [
    {
      tax_id: 'c',
      registered_address: { country: 'FR' },
      tax_id_validation_result: result('c', { valid: 'NOT_VALID' }),
    },
  ],
}

test('each result is found with the country of its address, and changed where it stands', () => {
  expect(validationsIn(organization).map(({ country, result: { id } }) => `${id} ${country}`)).toEqual([
    'a NL',
    'b NL',
    'c FR',
  ])
  const changed = withValidations(organization, each => ({ ...each.result, message: each.result.id }))
  expect(validationsIn(changed).map(each => each.result.message)).toEqual(['a', 'b', 'c'])
  expect(withValidations(organization, each => each.result)).toEqual(organization)
  expect(validationsIn({ legal_name: 'Acme' })).toEqual([])
})

test('only a change that gives a customer an unproven id asks', () => {
  const asks = (data: object, previous_data: object | null) =>
    hasNewIds({ data: { organization: data }, previous_data: previous_data && { organization: previous_data } })
  const proven = { tax_id: 'a', tax_id_validation_result: result('a', { source: 'VIES', valid: 'VALID' }) }
  const wrong = { tax_id: 'a', tax_id_validation_result: result('a', { valid: 'NOT_VALID' }) }
  expect([asks(organization, null), asks(organization, wrong)]).toEqual([true, true])
  expect([asks(organization, { ...organization, legal_name: 'Acme' }), asks(proven, organization)]).toEqual([
    false,
    false,
  ])
  expect([asks(proven, null), asks(wrong, null), hasNewIds({ data: {}, previous_data: null })]).toEqual([
    false,
    false,
    false,
  ])
})
