// Wallet entries of an invoice: reserved while it is OPEN or DRAFT, spent when it becomes FINAL, released when it is
// computed again, becomes VOID or is deleted (contract: Invoice with amount-denominated wallet spend). A credit note gives it back.
import type { Uow } from '../../../../shared/database/database.ts'
import type { Decimal } from '../../../../shared/decimal.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { at, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import { getInvoice, loadInvoices } from '../../invoices/repository.ts'
import { isCreditNote } from '../../invoices/settlement/settlement.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import { type SubBalance, type SubBalanceUse, usesOf } from '../../invoices/wallet-uses.ts'
import { lockWallets } from '../ledger/lock-wallets.ts'
import { postEntries } from '../ledger/post-entries.ts'
import { type CombinedUse, combinedEntries } from './combined-entries.ts'
import { invoiceEntries } from './invoice-entries.ts'
import { returnCredited } from './return-credited.ts'
import { spentBy } from './spent-grants.ts'
import { loadFundedGrants, loadReservedByInvoice, plusParts, spentAt, usableGrants } from './usable-grants.ts'

type Invoice = Pick<
  InvoiceRow,
  'id' | 'type' | 'status' | 'content' | 'original_invoice_id' | 'period_start' | 'period_end' | 'on_demand' | 'one_off'
>

/** Posts what the saved invoice changes in wallets; nothing for an invoice that neither uses nor used any. */
export async function followInvoice(uow: Uow, row: Invoice, previous: Invoice | null): Promise<void> {
  if (isCreditNote(row)) {
    await returnCredited(uow, row, previous)
    return
  }
  const isFinal = row.status === 'FINAL'
  if (isFinal && previous?.status === 'FINAL') return
  const isGone = row.status === 'VOID' || row.status === 'ARCHIVED'
  const uses = isGone ? new Map<string, SubBalanceUse>() : usesOf(row.content)
  const before = previous ? usesOf(previous.content) : new Map<string, SubBalanceUse>()
  const subBalances = new Map<string, SubBalance>([...before, ...uses])
  const walletIds = idsOf('wall', new Set([...subBalances.values()].map(({ walletId }) => walletId)))
  if (walletIds.length === 0) return
  const own = serviceOf(row)
  const service = own ?? (await serviceOfReplaced(uow, row))
  if (service === null) return
  await lockWallets(uow, walletIds)
  const parts = previous === null ? await partsOf(uow, row) : []
  if (parts.length > 0) {
    const of = { funded: await loadFundedGrants(uow, walletIds), now: uow.now }
    await postEntries(uow, combinedEntries(row.id, [...parts, afterTax(row, service)], of))
    return
  }
  const held = (await loadReservedByInvoice(uow, [row.id])).get(row.id) ?? new Map<string, Decimal>()
  const returning =
    own === null && row.original_invoice_id !== null
      ? await spentBy(uow, row.original_invoice_id)
      : new Map<string, Decimal>()
  const funded = await loadFundedGrants(uow, walletIds, returning.keys())
  const grants = usableGrants(funded, plusParts(held, returning), { service, now: uow.now })
  const of = { subBalances: [...subBalances.keys()], uses, grants, isFinal, spentAt: spentAt(service, uow.now) }
  const replacing = own === null ? { replacing: { returning, now: uow.now } } : {}
  await postEntries(uow, invoiceEntries(row.id, { ...of, ...replacing }))
}

/** What the invoices that it was made from take before tax, each in its own time. */
async function partsOf(uow: Uow, { content }: Invoice): Promise<CombinedUse[]> {
  const parts = await loadInvoices(uow, content.combined_invoice_ids ?? [])
  return [...parts.values()].flatMap(part => {
    const service = serviceOf(part)
    return service ? [{ service, uses: usesOf({ ...part.content, wallet_balances: [] }) }] : []
  })
}

/** Money pays after tax once for all of them, so in the time of all. */
const afterTax = ({ content }: Invoice, service: Interval): CombinedUse => ({
  service,
  uses: usesOf({ ...content, periods: [] }),
})

/**
 * The time of the invoice that this one replaces, which holds the billing period; null for an invoice that replaces none
 * (CREDIT_AND_REBILL). The one that it replaces may itself have replaced another.
 */
async function serviceOfReplaced(uow: Uow, { original_invoice_id: id }: Invoice): Promise<Interval | null> {
  if (id === null) return null
  const original = await getInvoice(uow, id)
  return serviceOf(original) ?? (await serviceOfReplaced(uow, original))
}

/** The time whose grants can pay the invoice; null for an invoice that wallets do not pay. */
function serviceOf({ period_start, period_end, on_demand, one_off, content }: Invoice): Interval | null {
  if (on_demand !== null) return interval(at(on_demand.service_start), at(on_demand.service_end))
  if (one_off !== null) {
    const { periods } = content
    const starts = periods.map(({ start_at }) => at(start_at))
    const ends = periods.map(({ end_at }) => at(end_at))
    // Without lines it takes nothing, and only gives back what it held.
    return periods.length === 0 ? NO_TIME : interval(instantOf(Math.min(...starts)), instantOf(Math.max(...ends)))
  }
  return period_start === null || period_end === null ? null : interval(at(period_start), at(period_end))
}

const NO_TIME = interval(instantOf(0), instantOf(1_000))
