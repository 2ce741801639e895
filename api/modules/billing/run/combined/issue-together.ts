// Issues the invoices of a billing run that belong together as one: each of them becomes ARCHIVED, with what it counted,
// and a FINAL invoice has the lines of all. It takes what was computed and returns what is to be saved.
import { createHash } from 'node:crypto'
import { groupBy } from '../../../../../shared/group-by.ts'
import type { Id } from '../../../../../shared/ids.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { at, type Instant, instantOf, interval } from '../../../../../shared/time.ts'
import { changed, created, finalized, type PendingInvoice } from '../../../invoices/changes/pending-invoice.ts'
import type { PrepaidBalance } from '../../../invoices/document/pay-from-balances.ts'
import type { ComputedInvoice } from '../../../invoices/producer.ts'
import { type AvailableFunds, type FundsRequest, fewestFirst } from '../../../invoices/settlement/funds.ts'
import { type InvoiceRow, UNTOUCHED } from '../../../invoices/table.ts'
import { priceBeforeDocument } from '../../pricing/price-invoice.ts'
import type { BillingInputs } from '../../terms/billing-inputs.ts'
import { fundsRequest } from '../funds-request.ts'
import type { Issue } from './issue.ts'
import { type JoinedInvoice, joinInvoices, once, type Part } from './join-invoices.ts'
import { COMBINED_MAX, combinedAt, combinedWith, sameDocument } from './match.ts'

/** The name of the producer of these invoices, as stored with them. */
export const COMBINED_BILLING = 'COMBINED'

type Issues = readonly [Issue, ...Issue[]]

export type IssuedTogether = {
  /** What becomes of the invoices that are combined, and of those that wait, by their id. */
  readonly parts: ReadonlyMap<string, PendingInvoice>
  /** The ids of invoices that stay DRAFT, and are issued by the next run. */
  readonly waiting: ReadonlySet<string>
  readonly invoices: readonly Combined[]
  /** Why invoices of these subscriptions, by id, could not be combined; those wait. */
  readonly faults: ReadonlyMap<string, unknown>
}

export type Combined = {
  readonly pending: PendingInvoice
  /** What could pay it after tax; kept, so that it can be verified. */
  readonly balances: readonly PrepaidBalance[]
}

type Of = { readonly tenant: Tenant; readonly now: Instant; readonly funds: AvailableFunds }

/** What a run computed of one subscription. `granted`: something that invoices of this run could not spend yet. */
type Advanced = {
  readonly inputs: BillingInputs
  readonly step: { readonly issues: readonly Issue[]; readonly granted: boolean }
}

/**
 * Combines those that belong together. One that belongs to no other stays as it is; so does one that has custom fields of its
 * own. More than COMBINED_MAX become several invoices, in the order of their subscriptions. Where one of them has granted something,
 * all wait for the next run, as that one does. So do those that cannot be combined, which keeps no others waiting.
 */
export function issueTogether(all: readonly Advanced[], of: Of): IssuedTogether {
  const granting = new Set(all.flatMap(({ inputs, step }) => (step.granted ? [combinedWith(inputs)] : [])))
  const issues = all.flatMap(({ step }) => step.issues)
  const waits = ({ inputs }: Issue): boolean => granting.has(combinedWith(inputs))
  const left = issues.filter(waits)
  const parts = new Map<string, PendingInvoice>(left.map(({ draft }) => [draft.row.id, draft]))
  const invoices: Combined[] = []
  const faults = new Map<string, unknown>()
  const placed = groupBy(
    issues.filter(issue => !waits(issue) && issue.draft.row.custom_fields.length === 0),
    ({ inputs, request, final }) => `${combinedAt(inputs, request.window)} ${sameDocument(final.row)}`,
  )
  for (const own of [...placed.values()].flatMap(inDocuments)) {
    const [first, ...others] = own
    if (!first || others.length === 0) continue
    try {
      const combined = combine([first, ...others], of)
      invoices.push(combined)
      for (const each of own) parts.set(each.draft.row.id, archived(each, combined.pending.row.id, of.now))
    } catch (error) {
      for (const each of own) {
        of.funds.take(ownRequest(each), each.draft.row.content)
        parts.set(each.draft.row.id, each.draft)
        faults.set(each.inputs.subscription.id, error)
      }
      left.push(...own)
    }
  }
  return { parts, waiting: new Set(left.map(({ draft }) => draft.row.id)), invoices, faults }
}

/**
 * The invoices that a run saves, in the order in which wallets pay them: each combined invoice directly after the last of its parts. What
 * they had reserved passes to it, and later invoices can reserve only what it leaves.
 */
export function inOrderOfPayment(
  pending: readonly PendingInvoice[],
  documents: readonly Pick<Combined, 'pending'>[],
): PendingInvoice[] {
  const lastPlace = new Map(pending.map(({ row }, place) => [row.combined_into_id, place]))
  const after = groupBy(documents, ({ pending: { row } }) => lastPlace.get(row.id))
  return pending.flatMap((each, place) => [each, ...(after.get(place) ?? []).map(document => document.pending)])
}

/** A run may have several sets of one customer. */
function inDocuments(issues: readonly Issue[]): Issue[][] {
  const sorted = issues.toSorted((a, b) => (a.inputs.subscription.id < b.inputs.subscription.id ? -1 : 1))
  return Array.from({ length: Math.ceil(sorted.length / COMBINED_MAX) }, (_, place) =>
    sorted.slice(place * COMBINED_MAX, (place + 1) * COMBINED_MAX),
  )
}

/** As it would have been FINAL: so it can be verified by itself. */
function archived({ draft, final: { row, lines } }: Issue, id: Id<'invo'>, now: Instant): PendingInvoice {
  const { invoice_date, delivery_date, due_date, content, amount_excluding_tax, tax_amount, amount_including_tax } = row
  const issued = {
    invoice_date,
    delivery_date,
    due_date,
    content,
    amount_excluding_tax,
    tax_amount,
    amount_including_tax,
  }
  const values = { ...issued, status: 'ARCHIVED' as const, finalize_at: null, combined_into_id: id }
  return changed(draft, now, values, lines ? { lines } : {})
}

/** What a document of several invoices is computed from. */
export type Joinable = Pick<Issue, 'inputs' | 'request'> & {
  readonly draft: { readonly row: Pick<InvoiceRow, 'id'> }
  readonly final: { readonly row: Pick<InvoiceRow, 'content'> }
}
type Joinables = readonly [Joinable, ...Joinable[]]

/**
 * The document of them. What wallets pay before tax stays with each invoice, from the grants of its own time; what they
 * pay after tax, they pay of the document instead.
 */
export function joinIssues(own: Joinables, funds: AvailableFunds) {
  const [first, ...others] = own
  const request = requestOf(own)
  takeBeforeTax(own, funds)
  const { balances } = funds.payers(request)
  return { joined: joinInvoices([partOf(first), ...others.map(partOf)], balances), request, balances }
}

function combine(own: Issues, { tenant, now, funds }: Of): Combined {
  const { joined, request, balances } = joinIssues(own, funds)
  const pending = pendingOf(own, joined, { tenant, now })
  funds.take({ ...request, invoiceId: pending.row.id }, { ...joined.columns.content, periods: [] })
  return { pending, balances }
}

/** In the order in which it is posted when they are saved. */
function takeBeforeTax(own: Joinables, funds: AvailableFunds): void {
  const all = own.map(each => ({ request: ownRequest(each), content: withoutBalances(each.final.row) }))
  for (const { request, content } of all) funds.take(request, { ...content, periods: [] })
  for (const { request, content } of all.toSorted((a, b) => fewestFirst(a.request.service, b.request.service)))
    funds.take(request, content)
}

const partOf = ({ inputs, request, draft }: Joinable): Part => ({
  invoiceId: draft.row.id,
  subscriptionId: inputs.subscription.id,
  priced: priceBeforeDocument(inputs, request),
})

const ownRequest = ({
  inputs,
  request: { window },
  draft,
}: Joinable): FundsRequest & { readonly invoiceId: string } => ({
  ...fundsRequest(inputs, { window, invoiceId: draft.row.id }),
  invoiceId: draft.row.id,
})

const withoutBalances = ({
  content: { wallet_balances: _paid, ...content },
}: Pick<InvoiceRow, 'content'>): InvoiceRow['content'] => content

/** What all of them need of wallets, for the whole time that they bill. */
function requestOf(own: Joinables): FundsRequest {
  const services = own.map(each => ownRequest(each).service)
  const start = instantOf(Math.min(...services.map(service => service.start)))
  const end = instantOf(Math.max(...services.map(service => service.end)))
  return { ...ownRequest(own[0]), service: interval(start, end), invoiceId: null }
}

function pendingOf(
  own: Issues,
  { columns, lines, grants }: JoinedInvoice,
  { tenant, now }: Pick<Of, 'tenant' | 'now'>,
): PendingInvoice {
  const rows = own.map(({ final }) => final.row)
  const [{ billing_type, customer_id, billing_entity_id }] = rows as [InvoiceRow, ...InvoiceRow[]]
  const counted = rows.flatMap(({ usage_counted_until: until }) => (until === null ? [] : [at(until)]))
  const computed: ComputedInvoice = {
    columns,
    lines,
    grants,
    inputsHash: createHash('sha256')
      .update(rows.map(row => row.inputs_hash).join(' '))
      .digest('hex'),
    usageCountedUntil: counted.length === 0 ? null : instantOf(Math.min(...counted)),
  }
  const draft = created(
    { tenant, now },
    {
      ...UNTOUCHED,
      ...columns,
      own_notes: once(rows.flatMap(row => row.own_notes)),
      grants,
      inputs_hash: computed.inputsHash,
      invoice_number: null,
      status: 'DRAFT',
      producer: COMBINED_BILLING,
      type: 'STANDARD',
      billing_type,
      customer_id,
      billing_entity_id,
      // Of none alone: its invoices hold their periods.
      pricing_plan_subscription_id: null,
      holds_period: false,
      on_hold: false,
      payment_status: 'UNPAID',
      finalize_at: null,
      updated_to_final_at: null,
      to_be_reprocessed_at: null,
    },
    lines,
  )
  return finalized(draft, now, computed)
}
