// Which part of wallet grants an invoice may use: what is open for its time, what it already holds, and what had not
// yet expired in the time that it bills (semantics 6: a reservation made before expiry holds).
import { and, eq, gt, or, sql } from 'drizzle-orm'
import type { SpendableGrant } from '../../../../shared/billing/wallets/spending-order.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { type Decimal, decimal, ZERO } from '../../../../shared/decimal.ts'
import { type Id, idsOf } from '../../../../shared/ids.ts'
import { at, type Instant, type Interval, instantOf } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { walletGrantAccounts, walletGrants } from '../table.ts'

/** A grant with its open part and its expired part. */
export type FundedGrant = SpendableGrant & {
  readonly walletId: Id<'wall'>
  /** The customer whose usage alone may spend it; null for all usage. */
  readonly seatOf: string | null
  readonly isReverted: boolean
  readonly reserved: Decimal
  readonly expired: Decimal
}

/** Like `FundedGrant`; `open` is all that the invoice may use of it. */
export type UsableGrant = FundedGrant & {
  /** The parts of `open` that the invoice already holds or gets back, and that are open for every invoice. The rest had expired. */
  readonly own: Decimal
  readonly openNow: Decimal
}

/** What each invoice holds of each grant. */
export type ReservedByInvoice = ReadonlyMap<string, ReadonlyMap<string, Decimal>>

/** When an invoice spends: at the end of its time, or now if that end is in the future. */
export const spentAt = ({ end }: Interval, now: Instant): Instant => instantOf(Math.min(now, end - 1_000))

/** What each grant has in one of them or in the other. */
export const plusParts = (
  one: ReadonlyMap<string, Decimal>,
  other: ReadonlyMap<string, Decimal>,
): ReadonlyMap<string, Decimal> =>
  other.size === 0
    ? one
    : new Map([...one, ...[...other].map(([id, part]) => [id, part.plus(one.get(id) ?? ZERO)] as const)])

/** The grants that the invoice may use, or holds a part of, or gets back. Pure. */
export function usableGrants(
  grants: readonly FundedGrant[],
  held: ReadonlyMap<string, Decimal>,
  of: { readonly service: Interval; readonly now: Instant },
): UsableGrant[] {
  const time = spentAt(of.service, of.now)
  return grants.flatMap((grant): UsableGrant[] => {
    const { startAt, expireAt, isReverted } = grant
    const own = held.get(grant.id) ?? ZERO
    const isInTime = startAt <= time && (expireAt === null || expireAt > of.service.start)
    const open = isReverted ? ZERO : isInTime ? grant.open.plus(grant.expired).plus(own) : own
    return open.lte(ZERO) && own.lte(ZERO) ? [] : [{ ...grant, open, own, openNow: grant.open }]
  })
}

/**
 * The grants of these wallets that an invoice may be able to use. The wallets are locked. `returning`: grants that get
 * something back, so that they count even when all of them is spent.
 */
export async function loadFundedGrants(
  uow: ReadUow,
  walletIds: readonly Id<'wall'>[],
  returning: Iterable<string> = [],
): Promise<FundedGrant[]> {
  if (walletIds.length === 0) return []
  const [a, g] = [walletGrantAccounts, walletGrants]
  const rows = await uow.tx
    .select({ accounts: a, reverted_at: g.reverted_at, seat: g.seat })
    .from(a)
    .innerJoin(g, and(inThisTenant(uow, g), eq(g.id, a.grant_id)))
    .where(
      and(
        inThisTenant(uow, a),
        anyOf(a.wallet_id, walletIds),
        or(gt(a.open, '0'), gt(a.reserved, '0'), gt(a.expired, '0'), anyOf(a.grant_id, idsOf('wgra', returning))),
      ),
    )
  return rows.map(({ accounts, reverted_at, seat }) => ({
    id: accounts.grant_id,
    walletId: accounts.wallet_id,
    seatOf: seat?.customer_id ?? null,
    type: accounts.type,
    startAt: at(accounts.start_at),
    expireAt: accounts.expire_at === null ? null : at(accounts.expire_at),
    open: decimal(accounts.open),
    reserved: decimal(accounts.reserved),
    expired: decimal(accounts.expired),
    isReverted: reverted_at !== null,
  }))
}

/** What these invoices hold of each grant. */
export async function loadReservedByInvoice(uow: ReadUow, invoiceIds: readonly string[]): Promise<ReservedByInvoice> {
  if (invoiceIds.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ invoice_id: string; grant_id: string; held: string }>(sql`
    select cause_id as invoice_id, grant_id, (coalesce(sum(quantity) filter (where credit_account = 'RESERVED'), 0)
      - coalesce(sum(quantity) filter (where debit_account = 'RESERVED'), 0))::text as held
    from wallet_entries
    where platform_id = ${platformId} and environment = ${environment} and cause_type = 'INVOICE'
      and cause_id = any(${sql.param(invoiceIds)}::text[])
    group by cause_id, grant_id`)
  const parts = new Map<string, Map<string, Decimal>>()
  for (const { invoice_id, grant_id, held } of rows) {
    const own = parts.get(invoice_id) ?? new Map<string, Decimal>()
    parts.set(invoice_id, own.set(grant_id, decimal(held)))
  }
  return parts
}
