// Exchange rates: the platform's own reference rates, by which prices in one currency are invoiced in another (semantics
// 5.6). A rate is corrected, never deleted: invoices keep the rates that they used.
import { and, eq } from 'drizzle-orm'
import Type from 'typebox'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { at, formatInstant, instantOf } from '../../../../shared/time.ts'
import { defineResource, field, readOnly } from '../../../resource/define-resource.ts'
import { Currency, DecimalText, Timestamp } from '../../../resource/shapes.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { Correction, Source } from './schema.ts'
import { type ExchangeRateRow, exchangeRates } from './table.ts'

/** The most corrections that a rate keeps; beyond that something writes it in a loop. */
const CORRECTIONS_MAX = 100
/** A rate for a time further ahead is a typing error. */
const AHEAD_MS = 7 * 86_400_000

export const exchangeRateResource = defineResource<ExchangeRateRow>({
  objectType: 'EXCHANGE_RATE',
  shapeName: 'ExchangeRate',
  idPrefix: 'exra',
  path: 'exchange-rates',
  table: exchangeRates,
  fields: {
    base_currency: field(Currency, { create: 'required', change: 'never' }),
    currency: field(Currency, { create: 'required', change: 'never' }),
    rate: field(DecimalText, { create: 'required' }),
    rate_timestamp: field(Timestamp, { create: 'required', change: 'never' }),
    source: field(Source, { create: 'required' }),
    corrections: readOnly(Type.Array(Correction)),
  },
  operations: ['create', 'list', 'get', 'update', 'search'],
  byReference: false,
  filters: {
    base_currency: { kind: 'equals', column: 'base_currency' },
    currency: { kind: 'equals', column: 'currency' },
  },
  searchable: ['base_currency', 'currency', 'source'],
  orderBy: ['rate_timestamp'],
  defaults: () => ({ corrections: [] }),
  resolve: (uow, row, previous) =>
    previous === null || (previous.rate === row.rate && previous.source === row.source)
      ? row
      : {
          ...row,
          corrections: [
            ...previous.corrections,
            { rate: previous.rate, source: previous.source, corrected_at: formatInstant(uow.now) },
          ],
        },
  check: async (uow, row, previous) => {
    const refused = (field: string, message: string) => new AppError('INVALID_FIELD', message, { field })
    if (row.base_currency === row.currency) throw refused('currency', 'Give two different currencies.')
    if (!decimal(row.rate).gt(ZERO)) throw refused('rate', 'The rate must be above zero.')
    if (at(row.rate_timestamp) > uow.now + AHEAD_MS)
      throw refused('rate_timestamp', 'It is more than seven days ahead; give a time at which the rate is known.')
    if (row.corrections.length > CORRECTIONS_MAX)
      throw new AppError('INVALID_OPERATION', `A rate can be corrected ${CORRECTIONS_MAX} times.`, { field: 'rate' })
    // Currencies and time never change.
    if (previous !== null) return
    const e = exchangeRates
    const [same] = await uow.tx
      .select({ id: e.id })
      .from(e)
      .where(
        and(
          inThisTenant(uow, e),
          eq(e.base_currency, row.base_currency),
          eq(e.currency, row.currency),
          eq(e.rate_timestamp, row.rate_timestamp),
        ),
      )
    if (same)
      throw new AppError(
        'RESOURCE_ALREADY_EXISTS',
        'There is a rate of these currencies for this time; correct it with PATCH.',
        {
          field: 'rate_timestamp',
          resourceId: same.id,
          resourceType: 'EXCHANGE_RATE',
        },
      )
  },
  fixture: {
    create: async seed => ({
      base_currency: 'EUR',
      currency: 'USD',
      rate: '1.0832',
      // There is one rate of two currencies for a time.
      rate_timestamp: formatInstant(
        instantOf(at('2026-03-31T00:00:00Z') + 1_000 * Number(seed.unique('rate').split('-').at(-1))),
      ),
      source: 'ECB',
    }),
    update: { rate: '1.0833' },
  },
})
