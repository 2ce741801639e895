// How the parties' tax ids change the tax of an invoice, and which warnings it gets.
import { describe, expect, test } from 'vitest'
import { localDate } from '../../../../../shared/billing/local-days.ts'
import { readEngineAnswer, type StoredTaxAnswer } from '../../../../../shared/billing/tax/tax-engine.ts'
import { plain } from '../../../../../shared/decimal.ts'
import { instantOf } from '../../../../../shared/time.ts'
import { exampleInputs } from '../../../billing/testing/example-inputs.ts'
import { checkedOrganization } from '../../../parties/customers/check-organization.ts'
import type { Organization } from '../../../parties/customers/schema.ts'
import type { TaxIdValidation } from '../../../parties/tax-ids/schema.ts'
import { withRegistrationChecks, withTaxIdChecks } from '../../../parties/tax-ids/with-checks.ts'
import type { BillingEntityInput, CustomerInput, Parties } from '../parties.ts'
import { invoiceTax } from './invoice-tax.ts'

const DAY = localDate('2026-06-30')
const CHECK = { path: '', now: instantOf(0) }
const base = exampleInputs({ start: '2026-01-01T00:00:00Z', items: [] })

async function taxOf(buyer: Organization, entity: Partial<BillingEntityInput> = {}) {
  if (DAY === null) throw new Error('it is a day')
  const organization = await checkedOrganization(buyer, null, CHECK.now)
  const seller = { ...base.billing_entity, ...entity } as BillingEntityInput
  const parties = {
    number_fields: [],
    platform: base.platform,
    customer: { ...base.customer, organization },
    billing_entity: await withTaxIdChecks(seller, null, CHECK),
  }
  const { decision, findings } = invoiceTax({ parties, salesTaxPercentage: null }, DAY)
  return {
    treatment: decision.treatment,
    rates: decision.rates.map(({ name, percentage }) => `${name} ${plain(percentage)}`),
    warnings: findings.map(({ status, details }) => `${status} ${details}`),
  }
}

describe('by a tax engine', () => {
  const entity = { ...base.billing_entity, tax_settings: { provider: 'EXTERNAL' as const } }
  const taxed = (more: Partial<Parties>, taxCategory: 'STANDARD' | 'NO_TAX' = 'STANDARD') => {
    if (DAY === null) throw new Error('it is a day')
    const parties = { ...base, billing_entity: entity, tax_answers: [], ...more }
    return invoiceTax({ parties, salesTaxPercentage: null, lines: [{ taxCategory }] }, DAY)
  }
  const key = taxed({}).open?.key ?? ''
  const kept = (more: Partial<StoredTaxAnswer>) => ({
    tax_answers: [{ key, on: '2026-06-30', as_of: null, answer: null, fault: null, ...more }],
  })
  const answer = readEngineAnswer({
    treatment: 'TAXED',
    rates: [
      { name: 'GST', percentage: '5' },
      { name: 'QST', percentage: '9.975' },
    ],
    taxable_percentage: '60',
    note: 'Assessed by the engine.',
  })

  test('without an answer there is no tax, an ERROR, and an open question', () => {
    const { decision, findings, open } = taxed({})
    expect(decision).toMatchObject({ treatment: 'NOT_COVERED', rates: [] })
    expect(findings).toEqual([
      {
        status: 'ERROR',
        details: expect.stringMatching(/^The tax engine has not said what tax applies on 2026-06-30\. It is asked/),
      },
    ])
    expect(open).toMatchObject({ as_of: null, question: { version: 1, date: '2026-06-30', tax_category: 'STANDARD' } })
    expect(taxed(kept({ fault: 'It is down.' })).findings[0]?.details).toMatch(/It is down\.$/)
  })

  test('for a made-up customer, it says that no tax engine is asked', () => {
    const { tax_answers: _none, ...rest } = { ...base, tax_answers: [] }
    if (DAY === null) throw new Error('it is a day')
    const { findings } = invoiceTax({ parties: { ...rest, billing_entity: entity }, salesTaxPercentage: null }, DAY)
    expect(findings.map(({ details }) => details)).toEqual([
      expect.stringMatching(/^These amounts are without tax: .* a customer that is imagined\.$/),
    ])
  })

  test('its answer is the tax; one from before the day leaves the question open', () => {
    const settled = taxed(kept({ answer, as_of: '2026-06-30' }))
    expect(settled.decision).toMatchObject({ treatment: 'TAX_ENGINE', notes: [{ text: 'Assessed by the engine.' }] })
    expect(settled.decision.rates.map(rate => `${rate.name} ${plain(rate.percentage)}`)).toEqual(['GST 5', 'QST 9.975'])
    expect(plain(settled.decision.taxableShare.numerator)).toBe('60')
    expect(settled).not.toHaveProperty('open')
    const early = taxed(kept({ answer, as_of: '2026-06-29' }))
    expect(early.decision).toEqual(settled.decision)
    expect(early.open).toMatchObject({ key, as_of: '2026-06-29' })
  })

  test('is not asked about items without tax, nor again for a change that tax cannot depend on', () => {
    expect(taxed({}, 'NO_TAX')).toEqual({ decision: expect.objectContaining({ rates: [] }), findings: [] })
    const named = {
      ...base.customer,
      email: 'a@b.example',
      organization: { ...base.customer.organization, legal_name: 'Other' },
    }
    expect(taxed({ customer: named }).open?.key).toBe(key)
    const moved = { ...base.customer, organization: { registered_address: { country: 'DE' } } }
    expect(taxed({ customer: moved }).open?.key).not.toBe(key)
  })
})

describe('from NL to a company in DE', () => {
  const to = (more: Organization) => taxOf({ registered_address: { country: 'DE' }, ...more })

  test('an id with a valid format shifts the tax, with a warning that it is unconfirmed', async () => {
    expect(await to({ tax_id: 'DE136695976' })).toEqual({
      treatment: 'REVERSE_CHARGE',
      rates: [],
      warnings: [
        'WARNING No authority has confirmed the tax id "DE136695976" of the customer, so reverse charge rests on an unproven id.',
      ],
    })
  })

  test('a wrong id counts as none: reverse charge with a warning, or local VAT where the billing entity says so', async () => {
    const { treatment, warnings } = await to({ tax_id: 'XX' })
    expect(treatment).toBe('REVERSE_CHARGE')
    expect(warnings).toEqual([expect.stringMatching(/^WARNING The tax id of the customer is not valid.*"XX"/)])
    const strict = { tax_settings: { apply_local_vat_for_missing_tax_id: true } }
    for (const tax_id of ['XX', 'DE136695977', null])
      expect(await taxOf({ registered_address: { country: 'DE' }, tax_id }, strict)).toMatchObject({
        treatment: 'SELLER_COUNTRY_RATE',
        rates: ['VAT 21'],
        warnings: [],
      })
    expect(await taxOf({ registered_address: { country: 'DE' }, tax_id: 'DE136695976' }, strict)).toMatchObject({
      treatment: 'REVERSE_CHARGE',
    })
  })

  test('no id at all is warned of, and a confirmed one is not', async () => {
    expect((await to({})).warnings).toEqual([expect.stringContaining('The customer has no tax id')])
    const confirmed: TaxIdValidation = {
      id: 'DE136695976',
      valid: 'VALID',
      source: 'FORMAT',
      validation_date: '2026-01-01T00:00:00Z',
      message: 'It exists.',
    }
    const organization = {
      registered_address: { country: 'DE' },
      tax_ids: [{ id: 'DE136695976', type: 'GENERIC_TAX_ID' as const, tax_id_validation_result: confirmed }],
    }
    if (DAY === null) throw new Error('it is a day')
    const parties = { ...base, customer: { ...base.customer, organization } }
    expect(invoiceTax({ parties, salesTaxPercentage: null }, DAY).findings).toEqual([])
  })

  test('the best of several ids counts, in whichever field it stands', async () => {
    const tax_ids = [{ id: 'DE136695976', type: 'GENERIC_TAX_ID' as const }] as Organization['tax_ids'] & object
    expect((await to({ tax_id: 'XX', tax_ids })).warnings).toEqual([expect.stringContaining('DE136695976')])
  })

  test('an id that was saved before ids were checked counts as given', async () => {
    if (DAY === null) throw new Error('it is a day')
    const organization = { registered_address: { country: 'DE' }, tax_id: 'XX' }
    const parties = { ...base, customer: { ...base.customer, organization } }
    const { decision, findings } = invoiceTax({ parties, salesTaxPercentage: null }, DAY)
    expect([decision.treatment, findings.length]).toEqual(['REVERSE_CHARGE', 1])
  })
})

describe('at home', () => {
  test('gives no warning about a tax id that decides nothing', async () => {
    expect(await taxOf({ registered_address: { country: 'NL' }, tax_id: 'XX' })).toEqual({
      treatment: 'LOCAL_RATE',
      rates: ['VAT 21'],
      warnings: [],
    })
  })
})

describe('of a self-billing invoice, which the customer supplies', () => {
  const REVERSE = 'The billing entity has no tax id, and tax is reverse-charged'
  const NL = { registered_address: { country: 'NL' }, tax_id: 'NL123456789B01' }
  test.each<[Partial<CustomerInput>, Partial<BillingEntityInput>, string, string[]]>([
    [{ organization: { registered_address: { country: 'DE' }, tax_id: 'DE136695976' } }, NL, 'REVERSE_CHARGE', []],
    [
      { organization: { registered_address: { country: 'DE' } } },
      { registered_address: { country: 'NL' } },
      'REVERSE_CHARGE',
      [REVERSE],
    ],
    [
      { organization: { registered_address: { country: 'DE' } } },
      { registered_address: { country: 'DE' } },
      'LOCAL_RATE VAT 19',
      ['The customer, who supplies, has no tax id'],
    ],
    [
      { organization: { registered_address: { country: 'DE' }, tax_id: 'DE136695976' } },
      { registered_address: { country: 'DE' } },
      'LOCAL_RATE VAT 19',
      [],
    ],
    // The supplier is outside of the EU, and the customer's own rate is not charged.
    [{ organization: { registered_address: { country: 'BR' } } }, NL, 'EXPORT', []],
    [{ organization: {} }, NL, 'NOT_COVERED', ['The customer has no country, so no tax is charged.']],
    [
      { type: 'INDIVIDUAL', organization: null, individual: { residential_address: { country: 'BE' } } },
      NL,
      'REVERSE_CHARGE',
      [],
    ],
  ])('of %j to %j: %s', (customer, entity, expected, warnings) => {
    if (DAY === null) throw new Error('it is a day')
    const parties = {
      number_fields: [],
      platform: base.platform,
      customer: { ...base.customer, ...customer },
      billing_entity: { ...base.billing_entity, tax_id: null, ...entity },
    }
    const tax = invoiceTax({ parties, salesTaxPercentage: null, billingType: 'SELF_BILLING' }, DAY)
    const rates = tax.decision.rates.map(({ name, percentage }) => `${name} ${plain(percentage)}`)
    expect([tax.decision.treatment, ...rates].join(' ')).toBe(expected)
    const found = tax.findings
      .map(({ details }) => details)
      .filter(text => !text.includes('No authority has confirmed'))
    expect(found).toEqual(warnings.map(text => expect.stringContaining(text)))
  })
})

describe('in Canada', () => {
  const CA = { country: 'CA', state: 'QC' }
  const seller = (...types: readonly (readonly [type: string, id: string])[]) =>
    ({
      registered_address: CA,
      tax_ids: types.map(([type, id]) => ({ type, id })),
    }) as unknown as Partial<BillingEntityInput>

  test.each([
    ['QC', [], ['GST 5']],
    ['QC', [['CA_QST', '1000043172TQ0001']], ['GST 5', 'QST 9.975']],
    [
      'Québec',
      [
        ['CA_QST', '1000043172TQ0001'],
        ['CA_GST_HST', '123026635RT0001'],
      ],
      ['GST 5', 'QST 9.975'],
    ],
    ['BC', [['CA_PST_BC', 'PST-1234-5678']], ['GST 5', 'PST 7']],
    ['BC', [['CA_QST', '1000043172TQ0001']], ['GST 5']],
    ['MB', [['CA_PST_MB', '123456-7']], ['GST 5', 'RST 7']],
    ['SK', [['CA_PST_SK', '1234567']], ['GST 5', 'PST 6']],
    ['SK', [['CA_PST', '1234567']], ['GST 5', 'PST 6']],
    ['ON', [['CA_GST_HST', '123026635RT0001']], ['HST 13']],
  ] as const)('to %s with %j: %j', async (state, ids, rates) => {
    const { rates: charged, warnings } = await taxOf({ registered_address: { country: 'CA', state } }, seller(...ids))
    expect(charged).toEqual(rates)
    expect(warnings).toEqual([])
  })

  test('an id on a registration of the billing entity counts too', async () => {
    const tax_registrations = await withRegistrationChecks(
      [{ registered_address: CA, tax_ids: [{ type: 'CA_QST', id: '1000043172TQ0001' }] } as never],
      null,
      CHECK,
    )
    const { rates } = await taxOf(
      { registered_address: CA },
      { registered_address: { country: 'CA', state: 'ON' }, tax_registrations },
    )
    expect(rates).toEqual(['GST 5', 'QST 9.975'])
  })

  test('an id with a wrong check digit still collects its tax, and the invoice says so', async () => {
    const { rates, warnings } = await taxOf({ registered_address: CA }, seller(['CA_QST', '1000043173TQ0001']))
    expect(rates).toEqual(['GST 5', 'QST 9.975'])
    expect(warnings).toEqual([expect.stringMatching(/billing entity is not valid.*1000043173TQ0001/)])
  })
})
