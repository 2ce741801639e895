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

type Sums = { readonly open: Decimal; readonly reserved: Decimal; readonly overGranted: Decimal }
/** The sums of a wallet, and of the part that was granted for the seats of each customer. */
type WalletSums = { readonly all: Sums; readonly bySeat: ReadonlyMap<string, Sums> }

const NOTHING: Sums = { open: ZERO, reserved: ZERO, overGranted: ZERO }
const plus = (a: Sums, b: Sums): Sums => ({
  open: a.open.plus(b.open),
  reserved: a.reserved.plus(b.reserved),
  overGranted: a.overGranted.plus(b.overGranted),
})

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
      ? sql`select a.wallet_id, a.grant_id, a.open, a.reserved, a.start_at, a.expire_at from wallet_grant_accounts a
          where a.platform_id = ${platformId} and a.environment = ${environment}
            and a.wallet_id = any(${sql.param(walletIds)}::text[])
            and (a.is_live or exists (select from wallet_grants o where o.platform_id = a.platform_id
              and o.environment = a.environment and o.id = a.grant_id and o.over_granted is not null))`
      : sql`select e.wallet_id, e.grant_id, a.start_at, a.expire_at,
            coalesce(sum(e.quantity) filter (where e.credit_account = 'OPEN'), 0)
              - coalesce(sum(e.quantity) filter (where e.debit_account = 'OPEN'), 0) as open,
            coalesce(sum(e.quantity) filter (where e.credit_account = 'RESERVED'), 0)
              - coalesce(sum(e.quantity) filter (where e.debit_account = 'RESERVED'), 0) as reserved
          from wallet_entries e
          join wallet_grant_accounts a on a.platform_id = e.platform_id and a.environment = e.environment and a.grant_id = e.grant_id
          where e.platform_id = ${platformId} and e.environment = ${environment}
            and e.wallet_id = any(${sql.param(walletIds)}::text[]) and e.effective_at <= ${time}::timestamptz
          group by e.wallet_id, e.grant_id, a.start_at, a.expire_at`
  const isLive = sql`(g.start_at <= ${time}::timestamptz and (g.expire_at is null or g.expire_at > ${time}::timestamptz))`
  const { rows } = await uow.tx.execute<{
    wallet_id: string
    seat_of: string | null
    open: string
    reserved: string
    over_granted: string
  }>(sql`
    select g.wallet_id, s.seat ->> 'customer_id' as seat_of, sum(g.reserved)::text as reserved,
      coalesce(sum(g.open) filter (where ${isLive}), 0)::text as open,
      coalesce(sum((s.over_granted -> 'credits' ->> 'quantity')::numeric)
        filter (where ${isLive} and s.reverted_at is null), 0)::text as over_granted
    from (${source}) as g
    join wallet_grants s on s.platform_id = ${platformId} and s.environment = ${environment} and s.id = g.grant_id
    group by g.wallet_id, seat_of order by seat_of`)
  const found = new Map<string, WalletSums>()
  for (const { wallet_id, seat_of, open, reserved, over_granted } of rows) {
    const own = { open: decimal(open), reserved: decimal(reserved), overGranted: decimal(over_granted) }
    const { all, bySeat } = found.get(wallet_id) ?? { all: NOTHING, bySeat: new Map<string, Sums>() }
    const seats = seat_of === null ? bySeat : new Map(bySeat).set(seat_of, own)
    found.set(wallet_id, { all: plus(all, own), bySeat: seats })
  }
  return found
}

type BalanceParts = {
  readonly balance: object | null
  readonly reserved_balance: object | null
  readonly open_balance: object | null
  /** Granted for seats beyond the paid ones; absent where there is none. */
  readonly over_granted?: object | null
}
export type BalanceStatus = BalanceParts & {
  /** What was granted for the seats of each customer; absent where no seat is granted anything. */
  readonly customer_details?: readonly (BalanceParts & { readonly customer_id: string })[]
  readonly balance_at: string
}

const partsOf = (unit: WalletUnit, { open, reserved, overGranted }: Sums): BalanceParts => ({
  balance: balanceValue(unit, plain(sum([open, reserved]))),
  reserved_balance: balanceValue(unit, plain(reserved)),
  open_balance: balanceValue(unit, plain(open)),
  ...(overGranted.gt(ZERO) ? { over_granted: balanceValue(unit, plain(overGranted)) } : {}),
})

const statusOf = (unit: WalletUnit, { all, bySeat }: WalletSums, at: Instant): BalanceStatus => ({
  ...partsOf(unit, all),
  ...(bySeat.size === 0
    ? {}
    : { customer_details: [...bySeat].map(([customer_id, own]) => ({ customer_id, ...partsOf(unit, own) })) }),
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
    const of = sums.get(wallet.id) ?? { all: NOTHING, bySeat: new Map() }
    return { wallet, unit, open: of.all.open, status: statusOf(unit, of, at) }
  })
}
