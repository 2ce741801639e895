// What the wallets of customers can pay of invoices (contract: Wallet rules 1 and 2): credits of the usage that is priced
// in them, then money before tax, and money after tax; for any number of invoices that are computed one after the other
// in a transaction.
import { and, eq, inArray } from 'drizzle-orm'
import type { WalletBalance } from '../../../../shared/billing/steps/clauses.ts'
import type { CreditPart } from '../../../../shared/billing/wallets/credits.ts'
import { inSpendingOrder, takeFrom } from '../../../../shared/billing/wallets/spending-order.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { type Decimal, max, min, sum, ZERO } from '../../../../shared/decimal.ts'
import { type Id, idsOf } from '../../../../shared/ids.ts'
import type { Instant } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { PrepaidBalance } from '../../invoices/document/pay-from-balances.ts'
import { type AvailableFunds, type FundsRequest, type FundsSource, NO_PAYERS } from '../../invoices/settlement/funds.ts'
import { subBalanceKey, usesOf } from '../../invoices/wallet-uses.ts'
import { lockWallets } from '../ledger/lock-wallets.ts'
import { wallets, walletTypes } from '../table.ts'
import { unitOf } from '../unit.ts'
import { spentBy } from './spent-grants.ts'
import {
  type FundedGrant,
  loadFundedGrants,
  loadReservedByInvoice,
  plusParts,
  type ReservedByInvoice,
  type UsableGrant,
  usableGrants,
} from './usable-grants.ts'

type Paying = { readonly walletId: Id<'wall'>; readonly walletTypeId: string; readonly customerId: string }
type PayingMoney = Paying & Pick<WalletBalance, 'taxCategory' | 'currency'>
type PayingAfterTax = Paying & Pick<PrepaidBalance, 'currency'> & { readonly taxCategory: null }
type PayingCredits = Paying & { readonly creditTypeId: string }
type PayingWallet = PayingMoney | PayingAfterTax | PayingCredits

const holdsMoney = (wallet: PayingWallet): wallet is PayingMoney | PayingAfterTax => 'currency' in wallet
const holdsCredits = (wallet: PayingWallet): wallet is PayingCredits => 'creditTypeId' in wallet

/** All wallets that can pay invoices. */
export const walletFunds: FundsSource = {
  lock: async (uow, of) => {
    const paying = await loadPaying(uow, of.customerIds)
    await lockWallets(
      uow,
      paying.map(({ walletId }) => walletId),
    )
    return await fundsOf(uow, paying, of)
  },
  read: async (uow, of) => await fundsOf(uow, await loadPaying(uow, of.customerIds), of),
}

async function fundsOf(
  uow: ReadUow,
  paying: readonly PayingWallet[],
  { invoiceIds, replacedId }: Parameters<FundsSource['read']>[1],
): Promise<AvailableFunds> {
  const walletIds = paying.map(({ walletId }) => walletId)
  const returning = replacedId === undefined || walletIds.length === 0 ? undefined : await spentBy(uow, replacedId)
  const grants = await loadFundedGrants(uow, walletIds, returning?.keys())
  const held = walletIds.length === 0 ? new Map() : await loadReservedByInvoice(uow, invoiceIds)
  return createAvailableFunds({ paying, grants, held, now: uow.now, ...(returning ? { returning } : {}) })
}

async function loadPaying(uow: ReadUow, customerIds: readonly string[]): Promise<PayingWallet[]> {
  if (customerIds.length === 0) return []
  const rows = await uow.tx
    .select({
      id: wallets.id,
      walletTypeId: wallets.wallet_type_id,
      customerId: wallets.customer_id,
      type: walletTypes.type,
      credit: walletTypes.credit,
      balance: walletTypes.balance,
    })
    .from(wallets)
    .innerJoin(walletTypes, and(inThisTenant(uow, walletTypes), eq(walletTypes.id, wallets.wallet_type_id)))
    .where(
      and(
        inThisTenant(uow, wallets),
        anyOf(wallets.customer_id, idsOf('cust', new Set(customerIds))),
        inArray(wallets.status, ['ACTIVE', 'DEPRECATED']),
      ),
    )
  return rows.flatMap(({ id: walletId, type, credit, balance, ...of }): PayingWallet[] => {
    const unit = unitOf({ credit, balance })
    if (unit.kind === 'CREDITS') return [{ walletId, ...of, creditTypeId: unit.creditTypeId }]
    if (unit.currency === null) return []
    const taxCategory = type === 'BALANCE' ? null : (credit?.amount_grant?.tax_category ?? 'STANDARD')
    return [{ walletId, ...of, currency: unit.currency, taxCategory } as PayingMoney | PayingAfterTax]
  })
}

type Of = {
  readonly paying: readonly PayingWallet[]
  readonly grants: readonly FundedGrant[]
  readonly held: ReservedByInvoice
  readonly now: Instant
  /** What the invoice that is replaced gives back of each grant. */
  readonly returning?: ReadonlyMap<string, Decimal>
}

/** What these wallets and grants can pay. Pure. */
export function createAvailableFunds({ paying, grants, held, now, returning = new Map() }: Of): AvailableFunds {
  const byId = new Map(grants.map(grant => [grant.id, grant]))
  const parts = new Map([...held].map(([invoiceId, own]) => [invoiceId, new Map(own)]))
  const usable = ({ invoiceId, service }: FundsRequest): UsableGrant[] =>
    usableGrants([...byId.values()], plusParts(parts.get(invoiceId ?? '') ?? new Map(), returning), { service, now })
  const ofCustomer = ({ customerId }: FundsRequest) => paying.filter(each => each.customerId === customerId)
  return {
    payers: request => {
      const own = ofCustomer(request)
      if (own.length === 0) return NO_PAYERS
      const all = inSpendingOrder(usable(request)).filter(({ open }) => open.gt(ZERO))
      const isOwed = request.billingType === 'SELF_BILLING'
      const money = isOwed ? [] : own.filter(holdsMoney).filter(({ currency }) => currency === request.currency)
      // The wallet with the earliest expiry pays first.
      const inOrder = [...new Set(all.map(({ walletId }) => walletId))].flatMap(id => {
        const available = sum(all.filter(({ walletId }) => walletId === id).map(({ open }) => open))
        return money.filter(({ walletId }) => walletId === id).map(wallet => ({ wallet, available }))
      })
      return {
        wallets: inOrder.flatMap(({ wallet: { walletId, walletTypeId, currency, taxCategory }, available }) =>
          taxCategory === null ? [] : [{ walletId, walletTypeId, taxCategory, currency, available }],
        ),
        balances: inOrder.flatMap(({ wallet: { walletId, walletTypeId, currency, taxCategory }, available }) =>
          taxCategory === null ? [{ walletId, walletTypeId, currency, available }] : [],
        ),
        credits: all.flatMap(({ walletId, seatOf, open }): CreditPart[] => {
          const wallet = own.filter(holdsCredits).find(each => each.walletId === walletId)
          return wallet ? [{ walletId, creditTypeId: wallet.creditTypeId, onlyFor: seatOf, quantity: open }] : []
        }),
      }
    },
    take: (request, content) => {
      if (grants.length === 0) return
      const uses = usesOf(content)
      const next = new Map<string, Decimal>()
      const all = usable(request)
      for (const subBalance of new Set(all.map(subBalanceKey))) {
        const own = all.filter(grant => subBalanceKey(grant) === subBalance)
        const taken = new Map(
          takeFrom(own, uses.get(subBalance)?.quantity ?? ZERO).parts.map(part => [part.grantId, part.quantity]),
        )
        for (const grant of own) {
          const wanted = taken.get(grant.id) ?? ZERO
          if (wanted.gt(ZERO)) next.set(grant.id, wanted)
          byId.set(grant.id, moved(grant, wanted))
        }
      }
      parts.set(request.invoiceId, next)
    },
    balanceOf: walletId =>
      sum(grants.filter(grant => grant.walletId === walletId).map(({ open, reserved }) => open.plus(reserved))),
  }
}

/**
 * The grant once the invoice holds `wanted` of it: any increase comes first from the open part, then from the expired
 * part.
 */
function moved(grant: UsableGrant, wanted: Decimal): FundedGrant {
  const more = max(wanted.minus(grant.own), ZERO)
  const less = grant.isReverted ? ZERO : max(grant.own.minus(wanted), ZERO)
  const fromOpen = min(more, grant.openNow)
  return {
    ...grant,
    open: grant.openNow.minus(fromOpen).plus(less),
    expired: grant.expired.minus(more.minus(fromOpen)),
  }
}
