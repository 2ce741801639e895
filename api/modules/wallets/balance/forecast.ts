// When a wallet runs out if spending continues at the recent rate.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { type Decimal, decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import { formatInstant, type Instant, instantOf } from '../../../../shared/time.ts'
import type { Wallet } from '../table.ts'
import { balanceValue } from '../unit.ts'
import { loadBalances } from './load-balances.ts'

const DAY_MS = 86_400_000
export const FORECAST_DAYS = [7, 30] as const
/** The longest time that a forecast covers. */
const YEARS_MAX_MS = 100 * 365 * DAY_MS

/**
 * When `open` reaches zero at the rate of `used` in `days`; null when nothing was used, or the end is more than a
 * century away.
 */
export function endsAt(
  open: Decimal,
  used: Decimal,
  of: { readonly days: number; readonly now: Instant },
): Instant | null {
  if (used.lte(ZERO)) return null
  const left = open.lte(ZERO) ? ZERO : open.times(decimal((of.days * DAY_MS).toString())).div(used)
  if (left.gt(decimal(YEARS_MAX_MS.toString()))) return null
  return instantOf(of.now + Number(left.toFixed(0)))
}

/**
 * How much of the wallet was reserved or spent in each number of past days, less what was released again, and when the
 * rest runs out at that rate.
 */
export async function loadForecast(uow: ReadUow, wallet: Wallet): Promise<object> {
  const [current] = await loadBalances(uow, [wallet], uow.now)
  if (!current) throw new Error('one wallet has one balance')
  const { platformId, environment } = uow.tenant
  const forecasts = []
  for (const days of FORECAST_DAYS) {
    const from = formatInstant(instantOf(uow.now - days * DAY_MS))
    const { rows } = await uow.tx.execute<{ used: string }>(sql`
      select (coalesce(sum(quantity) filter (where type = 'RESERVED'), 0) -
        coalesce(sum(quantity) filter (where type = 'RELEASED' and debit_account <> 'EXPIRED'), 0))::text as used
      from wallet_entries
      where platform_id = ${platformId} and environment = ${environment} and wallet_id = ${wallet.id}
        and created_at >= ${from}::timestamptz`)
    const used = decimal(rows[0]?.used ?? '0')
    const end = endsAt(current.open, used, { days, now: uow.now })
    const shown = used.lt(ZERO) ? ZERO : used
    forecasts.push({
      days,
      used_balance: balanceValue(current.unit, plain(shown)),
      ends_at: end === null ? null : formatInstant(end),
    })
  }
  return { wallet_id: wallet.id, open_balance: current.status.open_balance, forecasts }
}
