// Balances of wallets at a time: sums over their entries (semantics 6: balance = granted − expired − settled; open =
// balance − reserved).
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { type Decimal, decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import { findMany } from '../../../resource/store.ts'
import type { Wallet } from '../table.ts'
import { balanceValue, unitOf, type WalletUnit } from '../unit.ts'
import { walletTypeResource } from '../wallet-type.ts'

type WalletSums = { readonly open: Decimal; readonly reserved: Decimal }

/**
 * Open and reserved at `at`, by wallet. What has expired by then is not open, even when its entry is not posted yet;
 * what was reserved before it expired stays reserved.
 */
async function sumsAt(uow: ReadUow, walletIds: readonly string[], at: Instant): Promise<Map<string, WalletSums>> {
  const { platformId, environment } = uow.tenant
  const time = formatInstant(at)
  // For the present and the future the accounts already are these sums.
  const source =
    at >= uow.now
      ? sql`select a.wallet_id, a.open, a.reserved, a.start_at, a.expire_at from wallet_grant_accounts a
          where a.platform_id = ${platformId} and a.environment = ${environment}
            and a.wallet_id = any(${sql.param(walletIds)}::text[]) and (a.open > 0 or a.reserved > 0)`
      : sql`select e.wallet_id, a.start_at, a.expire_at,
            coalesce(sum(e.quantity) filter (where e.credit_account = 'OPEN'), 0)
              - coalesce(sum(e.quantity) filter (where e.debit_account = 'OPEN'), 0) as open,
            coalesce(sum(e.quantity) filter (where e.credit_account = 'RESERVED'), 0)
              - coalesce(sum(e.quantity) filter (where e.debit_account = 'RESERVED'), 0) as reserved
          from wallet_entries e
          join wallet_grant_accounts a on a.platform_id = e.platform_id and a.environment = e.environment and a.grant_id = e.grant_id
          where e.platform_id = ${platformId} and e.environment = ${environment}
            and e.wallet_id = any(${sql.param(walletIds)}::text[]) and e.effective_at <= ${time}::timestamptz
          group by e.wallet_id, e.grant_id, a.start_at, a.expire_at`
  const { rows } = await uow.tx.execute<{ wallet_id: string; open: string; reserved: string }>(sql`
    select g.wallet_id, sum(g.reserved)::text as reserved,
      coalesce(sum(g.open) filter (where g.start_at <= ${time}::timestamptz
        and (g.expire_at is null or g.expire_at > ${time}::timestamptz)), 0)::text as open
    from (${source}) as g group by g.wallet_id`)
  return new Map(
    rows.map(({ wallet_id, open, reserved }) => [wallet_id, { open: decimal(open), reserved: decimal(reserved) }]),
  )
}

export type BalanceStatus = {
  readonly balance: object | null
  readonly reserved_balance: object | null
  readonly open_balance: object | null
  readonly balance_at: string
}

const statusOf = (unit: WalletUnit, { open, reserved }: WalletSums, at: Instant): BalanceStatus => ({
  balance: balanceValue(unit, plain(sum([open, reserved]))),
  reserved_balance: balanceValue(unit, plain(reserved)),
  open_balance: balanceValue(unit, plain(open)),
  balance_at: formatInstant(at),
})

/** The balance of each wallet at `at`, in the order of the wallets. */
export async function loadBalances(
  uow: ReadUow,
  wallets: readonly Wallet[],
  at: Instant,
): Promise<
  readonly {
    readonly wallet: Wallet
    readonly status: BalanceStatus
    readonly open: Decimal
    readonly unit: WalletUnit
  }[]
> {
  const types = await findMany(
    uow,
    walletTypeResource,
    wallets.map(({ wallet_type_id }) => wallet_type_id),
  )
  const units = new Map(types.map(type => [type.id, unitOf(type)]))
  const sums = await sumsAt(
    uow,
    wallets.map(({ id }) => id),
    at,
  )
  return wallets.map(wallet => {
    const unit = units.get(wallet.wallet_type_id)
    if (!unit) throw new Error(`the wallet ${wallet.id} has no type`)
    const of = sums.get(wallet.id) ?? { open: ZERO, reserved: ZERO }
    return { wallet, unit, open: of.open, status: statusOf(unit, of, at) }
  })
}
