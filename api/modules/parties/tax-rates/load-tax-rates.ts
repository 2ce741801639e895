// Reads the platform's own tax rates of some countries.
import { and, asc, inArray } from 'drizzle-orm'
import type { PlatformTaxRate } from '../../../../shared/billing/tax/tax-rates.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { taxRates } from './table.ts'

/** Those of these countries, in a fixed order. */
export async function loadTaxRates(uow: ReadUow, countries: readonly string[]): Promise<PlatformTaxRate[]> {
  if (countries.length === 0) return []
  const t = taxRates
  const rows = await uow.tx
    .select({
      country: t.country,
      state: t.state,
      name: t.name,
      percentage: t.percentage,
      valid_from: t.valid_from,
      valid_to: t.valid_to,
      source: t.source,
    })
    .from(t)
    .where(and(inThisTenant(uow, t), inArray(t.country, [...countries])))
    .orderBy(asc(t.country), asc(t.state), asc(t.name), asc(t.valid_from))
  return rows.map(row => ({ ...row, percentage: plain(decimal(row.percentage)) }))
}
