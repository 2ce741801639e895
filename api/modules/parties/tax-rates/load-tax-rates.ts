// Reads the platform's own tax rates.
import { asc } from 'drizzle-orm'
import type { PlatformTaxRate } from '../../../../shared/billing/tax-rates.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { taxRates } from './table.ts'

/** All of them, in a fixed order. */
export async function loadTaxRates(uow: ReadUow): Promise<PlatformTaxRate[]> {
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
    .where(inThisTenant(uow, t))
    .orderBy(asc(t.country), asc(t.state), asc(t.name), asc(t.valid_from))
  return rows.map(row => ({ ...row, percentage: plain(decimal(row.percentage)) }))
}
