// What the charges of an invoice grant, follows the invoice (contract: Wallet grant, funded → reverted): granted once,
// when the time of the charge starts; kept at what the charge grants; reverted when the charge is gone. It runs in the
// transaction that saves the invoice, which holds its subscription, so two workers never grant twice; a unique index
// refuses it as well.
import { and, eq, isNotNull, or, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { type Decimal, decimal, plain, sum, ZERO } from '../../../../shared/decimal.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { type Id, idsOf } from '../../../../shared/ids.ts'
import { at } from '../../../../shared/time.ts'
import { saveNew } from '../../../resource/commands.ts'
import { findMany } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { ChargeGrant } from '../../invoices/charge-grants.ts'
import { isCreditNote } from '../../invoices/settlement/settlement.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { changeGranted } from '../grants/change-granted.ts'
import { revertGrant } from '../grants/revert-grant.ts'
import { saveGrant } from '../grants/save-grant.ts'
import { lockNewWallets, lockWallets } from '../ledger/lock-wallets.ts'
import type { Cause } from '../ledger/post-entries.ts'
import {
  type GrantAccounts,
  type Wallet,
  type WalletGrant,
  walletGrantAccounts,
  walletGrants,
  wallets,
} from '../table.ts'
import { unitOf, type WalletUnit } from '../unit.ts'
import { walletResource } from '../wallet.ts'
import { walletTypeResource } from '../wallet-type.ts'
import { isRevertedByCall, loadReason } from './revert-reason.ts'

type Invoice = Pick<
  InvoiceRow,
  | 'id'
  | 'type'
  | 'status'
  | 'grants'
  | 'holds_period'
  | 'customer_id'
  | 'billing_entity_id'
  | 'pricing_plan_subscription_id'
>
type Known = { readonly grant: WalletGrant; readonly accounts: GrantAccounts }

/** Brings the grants of the saved invoice to what its charges grant now. Idempotent. */
export async function followCharges(uow: Uow, row: Invoice, previous: Invoice | null): Promise<void> {
  if (row.grants.length === 0 && (previous?.grants ?? []).length === 0) return
  if (isCreditNote(row) || isClosed(row, previous)) return
  const due = row.status === 'VOID' ? [] : row.grants.filter(grant => isDue(uow, grant))
  const into = await walletsFor(uow, row.customer_id, [...new Set(due.map(grant => grant.wallet_type_id))])
  await lockWallets(
    uow,
    [...into.values()].map(({ wallet }) => wallet.id),
  )
  const known = await loadKnown(uow, row.id, due)
  const kept = new Set(due.map(({ charge }) => charge.key))
  const gone = known.filter(
    ({ grant: { charge, reverted_at } }) =>
      reverted_at === null && charge !== null && charge.invoice_id === row.id && !kept.has(charge.key),
  )
  if (gone.length > 0) {
    const reasonOf = await loadReason(uow, row)
    for (const { grant } of gone)
      await revertGrant(uow, grant.id, { reason: reasonOf(grant), cause: causeOf(grant), byCharge: true })
  }
  const byKey = groupBy(known, ({ grant }) => grant.charge?.key ?? '')
  for (const grant of due) {
    const target = into.get(grant.wallet_type_id)
    if (target) await bringTo(uow, row, { grant, known: byKey.get(grant.charge.key) ?? [], ...target })
  }
}

/** An invoice that was closed before keeps what it granted. */
const isClosed = (row: Invoice, previous: Invoice | null): boolean =>
  previous !== null && previous.status !== 'OPEN' && previous.status !== 'DRAFT' && row.status !== 'VOID'

/** A seat grants as soon as it is assigned, though it starts later; any other charge when its time starts. */
const isDue = (uow: Uow, { source, start_at }: ChargeGrant): boolean => source === 'PER_SEAT' || at(start_at) <= uow.now

type Target = { readonly wallet: Wallet; readonly unit: WalletUnit }

async function bringTo(
  uow: Uow,
  row: Invoice,
  { grant, known, wallet, unit }: Target & { readonly grant: ChargeGrant; readonly known: readonly Known[] },
): Promise<void> {
  if (known.some(({ grant: each }) => isRevertedByCall(each))) return
  const charge = { ...grant.charge, invoice_id: row.id }
  const used = sum(
    known
      .filter(each => each.grant.reverted_at !== null)
      .map(({ accounts }) => decimal(accounts.spent).plus(accounts.reserved)),
  )
  const quantity = decimal(grant.quantity).minus(used)
  const terms = { ...worthOf(unit, quantity), over_granted: overGranted(unit, grant, quantity), charge }
  const live = known.find(each => each.grant.reverted_at === null)
  if (live && isOfUndoneCancel(live, grant, quantity)) {
    const undone = { reason: 'SUBSCRIPTION_CANCEL_UNDONE', cause: causeOf(live.grant), byCharge: true } as const
    const reverted = await revertGrant(uow, live.grant.id, undone)
    const kept = { grant: reverted, accounts: live.accounts }
    await bringTo(uow, row, { grant, wallet, unit, known: known.map(each => (each === live ? kept : each)) })
    return
  }
  if (live) {
    await changeGranted(uow, live, { quantity, terms, cause: causeOf({ ...live.grant, charge }) })
    return
  }
  if (quantity.lte(ZERO)) return
  const { source, description, start_at, expire_at, paid_amount = null, seat = null } = grant
  const values = {
    customer_id: row.customer_id,
    billing_entity_id: row.billing_entity_id,
    wallet_id: wallet.id,
    type: 'DEFAULT' as const,
    source,
    description,
    paid_amount,
    start_at,
    expire_at,
    seat,
    ...terms,
  }
  const cause: Cause = grant.seat_assignment_id
    ? { type: 'SEAT_ASSIGNMENT', id: grant.seat_assignment_id }
    : { type: 'CHARGE', id: charge.key }
  await saveGrant(uow, values, cause)
}

/** Whether it granted less because of a cancellation that was taken back: it goes with that, and the charge grants anew. */
const isOfUndoneCancel = ({ grant: { charge, ...of } }: Known, to: ChargeGrant, quantity: Decimal): boolean =>
  charge?.cancelled === true &&
  !to.charge.cancelled &&
  quantity.gt((of.grant_credits ?? of.grant_amount)?.quantity ?? '0')

const causeOf = ({ charge }: Pick<WalletGrant, 'charge'>): Cause => ({ type: 'CHARGE', id: charge?.key ?? null })

function worthOf(unit: WalletUnit, quantity: Decimal): Pick<WalletGrant, 'grant_amount' | 'grant_credits'> {
  const text = plain(quantity)
  if (unit.kind === 'CREDITS')
    return { grant_amount: null, grant_credits: { quantity: text, credit_type_id: unit.creditTypeId } }
  if (unit.currency === null) throw new Error('a wallet type that prices grant to has a currency')
  return { grant_amount: { quantity: text, currency: unit.currency }, grant_credits: null }
}

const overGranted = (unit: WalletUnit, { over_granted }: ChargeGrant, quantity: Decimal) =>
  over_granted && unit.kind === 'CREDITS'
    ? { credits: { quantity: plain(quantity), credit_type_id: unit.creditTypeId } }
    : null

/** The grants of this invoice and of these charges, reverted ones too. */
async function loadKnown(uow: Uow, invoiceId: string, due: readonly ChargeGrant[]): Promise<Known[]> {
  const [g, a] = [walletGrants, walletGrantAccounts]
  const keys = due.map(({ charge }) => charge.key)
  return await uow.tx
    .select({ grant: g, accounts: a })
    .from(g)
    .innerJoin(a, and(inThisTenant(uow, a), eq(a.grant_id, g.id)))
    .where(
      and(
        inThisTenant(uow, g),
        isNotNull(g.charge),
        or(
          sql`${g.charge} ->> 'invoice_id' = ${invoiceId}`,
          keys.length === 0 ? undefined : sql`${g.charge} ->> 'key' = any(${sql.param(keys)}::text[])`,
        ),
      ),
    )
}

/** The customer's wallet of each type, made where there is none: by one invoice, and another one at the same time finds it. */
async function walletsFor(uow: Uow, customerId: Id<'cust'>, typeIds: readonly string[]): Promise<Map<string, Target>> {
  if (typeIds.length === 0) return new Map()
  const types = await findMany(uow, walletTypeResource, typeIds)
  const isThere = (own: readonly Wallet[]) => typeIds.every(id => own.some(wallet => isOpen(wallet, id)))
  let own = await walletsOf(uow, customerId, typeIds)
  if (!isThere(own)) {
    await lockNewWallets(uow, customerId)
    own = await walletsOf(uow, customerId, typeIds)
  }
  const into = new Map<string, Target>()
  for (const type of types) {
    const all = own.filter(wallet => wallet.wallet_type_id === type.id)
    const found = all.find(wallet => isOpen(wallet, type.id))
    // A wallet keeps its reference when it is ARCHIVED.
    const place = all.length === 0 ? '' : `-${all.length + 1}`
    const wallet =
      found ??
      (await saveNew(uow, walletResource, {
        reference: `${type.reference}-${customerId}${place}`,
        status: 'ACTIVE',
        wallet_type_id: type.id,
        customer_id: customerId,
      }))
    into.set(type.id, { wallet, unit: unitOf(type) })
  }
  return into
}

const isOpen = ({ status, wallet_type_id }: Wallet, typeId: string): boolean =>
  wallet_type_id === typeId && status !== 'ARCHIVED'

const walletsOf = (uow: Uow, customerId: Id<'cust'>, typeIds: readonly string[]): Promise<Wallet[]> =>
  uow.tx
    .select()
    .from(wallets)
    .where(
      and(
        inThisTenant(uow, wallets),
        eq(wallets.customer_id, customerId),
        anyOf(wallets.wallet_type_id, idsOf('wtyp', typeIds)),
      ),
    )
