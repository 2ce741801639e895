import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkTaxId } from './check-tax-id.ts'
import { TAX_ID_TYPES } from './schema.ts'

const verdict = async (country: string | null, id: string, type: (typeof TAX_ID_TYPES)[number] = 'GENERIC_TAX_ID') =>
  (await checkTaxId({ id, type, country })).valid

// One id that exists in the form of each country, as published by its owner or its authority.
const EXAMPLES: readonly (readonly [country: string, id: string])[] = [
  ['AT', 'ATU10223006'],
  ['AU', '83 914 571 673'],
  ['BE', 'BE0428759497'],
  ['BG', 'BG175074752'],
  ['CA', '123026635RC0001'],
  ['CH', 'CHE-107.787.577 IVA'],
  ['CY', 'CY10259033P'],
  ['CZ', 'CZ25123891'],
  ['DE', 'DE 136 695 976'],
  ['DK', 'DK13585628'],
  ['EE', 'EE100594102'],
  ['ES', 'ESB58378431'],
  ['FI', 'FI20774740'],
  ['FR', 'FR40303265045'],
  ['GB', 'GB980780684'],
  ['GR', 'EL094259216'],
  ['HR', 'HR33392005961'],
  ['HU', 'HU12892312'],
  ['IE', 'IE6433435F'],
  ['IT', 'IT00743110157'],
  ['LT', 'LT119511515'],
  ['LU', 'LU15027442'],
  ['LV', 'LV40003521600'],
  ['MT', 'MT11679112'],
  ['NL', 'NL004495445B01'],
  ['NO', '988077917MVA'],
  ['PL', 'PL8567346215'],
  ['PT', 'PT501964843'],
  ['RO', 'RO18547290'],
  ['SE', 'SE556188840401'],
  ['SI', 'SI50223054'],
  ['SK', 'SK2022749619'],
]

describe('the form of a tax id', () => {
  test.each(EXAMPLES)('%s: %s has it, and it is not the form of a word', async (country, id) => {
    expect(await verdict(country, id)).toBe('UNKNOWN')
    expect(await checkTaxId({ id, type: 'GENERIC_TAX_ID', country })).toMatchObject({
      message: expect.stringContaining('The form is right'),
    })
    expect(await verdict(country, 'XX')).toBe('NOT_VALID')
  })

  test.each([
    ['AT', 'ATU10223007'],
    ['BE', 'BE0428759498'],
    ['DE', 'DE136695977'],
    ['FR', 'FR41303265045'],
    ['GR', 'EL094259217'],
    ['IT', 'IT00743110158'],
    ['NL', 'NL004495446B01'],
    ['PL', 'PL8567346216'],
  ])('%s: %s has wrong check digits, and the message says so', async (country, id) => {
    const { valid, message } = await checkTaxId({ id, type: 'GENERIC_TAX_ID', country })
    expect([valid, message]).toEqual([
      'NOT_VALID',
      `${JSON.stringify(id)} is not of the form of tax ids of ${country}: its check digits are wrong.`,
    ])
  })

  test('may be that of another country, which it then names', async () => {
    expect(await verdict('NL', 'DE136695976')).toBe('UNKNOWN')
    expect(await verdict('NL', 'DE136695977')).toBe('NOT_VALID')
    expect(await verdict('GB', 'XI980780684')).toBe('UNKNOWN')
    expect(await verdict('FR', 'XI980780684')).toBe('UNKNOWN')
  })

  test('is not judged where no rule is known', async () => {
    for (const [country, id] of [
      ['BR', 'ATLANTA'],
      [null, 'anything'],
      ['US', '12-3456789'],
    ] as const)
      expect(await checkTaxId({ id, type: 'GENERIC_TAX_ID', country })).toMatchObject({
        valid: 'UNKNOWN',
        message: expect.stringContaining('No rule is known'),
      })
  })

  test.each([
    ['CA_GST_HST', '123026635RT0001', 'UNKNOWN'],
    ['CA_GST_HST', '123026635', 'NOT_VALID'],
    ['CA_QST', '1234567890TQ0001', 'NOT_VALID'],
    ['CA_QST', '1012345674', 'NOT_VALID'],
    ['CA_PST_BC', 'PST-1234-5678', 'UNKNOWN'],
    ['CA_PST_BC', '12345678', 'NOT_VALID'],
    ['CA_PST_MB', '123456-7', 'UNKNOWN'],
    ['CA_PST_SK', '1234567', 'UNKNOWN'],
    ['CA_PST', '1234567', 'UNKNOWN'],
    ['AU_GST', '83 914 571 673', 'UNKNOWN'],
    ['AU_GST', '83 914 571 674', 'NOT_VALID'],
  ] as const)('of type %s: %s is %s', async (type, id, valid) => {
    expect(await verdict(type.startsWith('CA') ? 'CA' : 'AU', id, type)).toBe(valid)
  })

  test('of a QST number follows its check digit: one of ten is right', async () => {
    for (const front of ['101234567', '123456789', '900000001']) {
      const right = []
      for (let digit = 0; digit < 10; digit += 1)
        if ((await verdict('CA', `${front}${digit}TQ0001`, 'CA_QST')) === 'UNKNOWN') right.push(digit)
      expect(right, front).toHaveLength(1)
    }
  })

  test.each(['NL', '../..', '-'])('of nothing but %s is NOT_VALID', async id => {
    for (const [country] of EXAMPLES) expect(await verdict(country, id), `${country}`).toBe('NOT_VALID')
  })

  test('has a verdict whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 64 }),
        fc.constantFrom(...EXAMPLES.map(([country]) => country), null),
        fc.constantFrom(...TAX_ID_TYPES),
        async (id, country, type) => {
          expect(['UNKNOWN', 'NOT_VALID']).toContain(await verdict(country, id, type))
        },
      ),
      { numRuns: 500 },
    )
  })
})
