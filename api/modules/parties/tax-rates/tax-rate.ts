// Tax rates: those that a platform adds for countries whose rates are not stored, or sets in place of stored ones (semantics 5.5).
import { and, count, eq, isNull, sql } from 'drizzle-orm'
import Type from 'typebox'
import { canadianProvince, canadianTaxes } from '../../../../shared/billing/tax/tax-rates.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, HUNDRED, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field } from '../../../resource/define-resource.ts'
import { Country, DecimalText, LocalDay } from '../../../resource/shapes.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type TaxRateRow, taxRates } from './table.ts'

/** Invoices read all of a platform; no platform sells in so many countries that it needs more. */
const RATES_MAX = 1_000

export const taxRateResource = defineResource<TaxRateRow>({
  objectType: 'TAX_RATE',
  shapeName: 'TaxRate',
  idPrefix: 'txra',
  path: 'tax-rates',
  table: taxRates,
  fields: {
    country: field(Country, { create: 'required', change: 'never' }),
    state: field(Type.String({ minLength: 1, maxLength: 64 }), { change: 'never' }),
    name: field(Type.String({ minLength: 1, maxLength: 50, pattern: '\\S' }), { create: 'required', change: 'never' }),
    percentage: field(DecimalText, { create: 'required' }),
    valid_from: field(LocalDay, { create: 'required', change: 'never' }),
    valid_to: field(LocalDay),
    source: field(Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' }), { create: 'required' }),
  },
  operations: ['create', 'list', 'get', 'update', 'delete', 'search'],
  byReference: false,
  filters: { country: { kind: 'equals', column: 'country' } },
  searchable: ['country', 'name', 'source'],
  resolve: (_uow, row) => (row.country === 'CA' ? { ...row, state: canadianProvince(row.state) ?? row.state } : row),
  check: async (uow, row, previous) => {
    if (previous === null) checkPlace(row)
    const percentage = decimal(row.percentage)
    if (percentage.lt(ZERO) || percentage.gt(HUNDRED))
      throw refused('percentage', 'A percentage is from 0 to 100: 21 is 21 %.')
    if (row.valid_to !== null && row.valid_to <= row.valid_from)
      throw refused(
        'valid_to',
        'valid_to is the first day on which the rate no longer holds; give a day after valid_from.',
      )
    if (previous === null) await checkOthers(uow, row)
  },
  fixture: {
    create: async seed => ({
      country: 'CH',
      name: 'VAT',
      percentage: '8.1',
      // There is one rate of a country from a day.
      valid_from: new Date(Date.UTC(2024, 0, Number(seed.unique('rate').split('-').at(-1)))).toISOString().slice(0, 10),
      source: 'Swiss Federal Tax Administration',
    }),
    update: { percentage: '8.2' },
  },
})

const refused = (name: string, message: string) => new AppError('INVALID_FIELD', message, { field: name })

/** Throws INVALID_FIELD for a place whose rates cannot be set. */
function checkPlace({ country, state, name }: TaxRateRow): void {
  if (country === 'US')
    throw refused(
      'country',
      'Sales tax of the US depends on the address: give sales_tax_percentage of the subscription or invoice.',
    )
  if (country !== 'CA') {
    if (state === null) return
    throw refused('state', 'Only Canadian rates have a state; leave it out.')
  }
  if (state !== null && canadianProvince(state) === null)
    throw refused('state', 'There is no such province of Canada; give its code, such as QC.')
  const names = canadianTaxes(state)
  if (!names.includes(name))
    throw refused(
      'name',
      names.length === 0
        ? `${state} has no tax of its own; leave the state out to set the GST.`
        : `${state ?? 'The whole of Canada'} has ${names.join(', ')}; give that name, or the province whose tax it is.`,
    )
}

/** Throws when there is a rate from that day, or when the platform has as many as it may have. */
async function checkOthers(uow: Uow, { country, state, name, valid_from }: TaxRateRow): Promise<void> {
  const t = taxRates
  const [same] = await uow.tx
    .select({ id: t.id })
    .from(t)
    .where(
      and(
        inThisTenant(uow, t),
        eq(t.country, country),
        state === null ? isNull(t.state) : eq(t.state, state),
        eq(t.valid_from, valid_from),
        ...(country === 'CA' ? [eq(t.name, name)] : []),
      ),
    )
  if (same)
    throw new AppError('RESOURCE_ALREADY_EXISTS', 'There is already a rate from this day; change it with PATCH.', {
      field: 'valid_from',
      resourceId: same.id,
      resourceType: 'TAX_RATE',
    })
  // So that of two at once the second is counted after the first.
  const { platformId, environment } = uow.tenant
  const key = `tax rates ${platformId} ${environment}`
  await uow.tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`)
  const [total] = await uow.tx.select({ rates: count() }).from(t).where(inThisTenant(uow, t))
  if ((total?.rates ?? 0) >= RATES_MAX)
    throw new AppError('INVALID_OPERATION', `A platform can have at most ${RATES_MAX} tax rates; delete one first.`)
}
