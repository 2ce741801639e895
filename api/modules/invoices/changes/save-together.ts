// Saves any number of invoices in a few statements: rows, lines, numbers and events, in the transaction of the caller.
import { isDeepStrictEqual } from 'node:util'
import { localDateOf } from '../../../../shared/billing/local-days.ts'
import {
  documentNumber,
  type NumberConfiguration,
  type NumberSeries,
  nextCounter,
  renderPrefix,
} from '../../../../shared/billing/numbering/numbering.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { at } from '../../../../shared/time.ts'
import { type DomainEvent, emitAll } from '../../../outbox.ts'
import { insertMany, updateMany } from '../../../resource/rows/many-rows.ts'
import { followSave } from '../../../resource/rules.ts'
import { seriesOf } from '../../parties/platforms/invoice-settings.ts'
import { loadNumberFieldsOf, type NumberField } from '../../parties/platforms/number-fields.ts'
import { zoneNamed } from '../document/invoice-dates.ts'
import { loadInvoicingSettings } from '../document/load-parties.ts'
import { linesOthersRead, replaceLinesOfMany } from '../lines/store-lines.ts'
import type { LineValues } from '../lines/table.ts'
import { takeNumbers } from '../repository.ts'
import { INVOICE, INVOICE_CHARGES } from '../settlement/funds.ts'
import { isCreditNote } from '../settlement/settlement.ts'
import { type InvoiceRow, invoices, isOpenEnded } from '../table.ts'
import { enqueueTaxQuestions } from '../tax/answers/store-answers.ts'
import { invoiceView } from '../view.ts'
import type { PendingInvoice } from './pending-invoice.ts'

/**
 * Saves these invoices, whose rows the caller has locked, and emits their events. Returns them as they are then stored,
 * in their order. Invoices that become FINAL take their numbers last, in their order; the counters stay locked until
 * commit, so numbers have no gap. Throws INVALID_OPERATION when a number cannot be given.
 */
export async function saveTogether(
  uow: Uow,
  all: readonly PendingInvoice[],
  failpoint?: Failpoints,
): Promise<InvoiceRow[]> {
  // Before the invoices: the lines of one that is FINAL are frozen.
  await saveLines(uow, all)
  const fresh = all.filter(({ stored }) => stored === null).map(({ row }) => row)
  await insertInvoices(
    uow,
    fresh.filter(({ status }) => status !== 'FINAL'),
  )
  await enqueueTaxQuestions(
    uow,
    all.map(({ row }) => row),
  )
  await failpoint?.('invoices.before-numbers')
  const numbers = await takeAll(uow, all)
  const saved = all.map(({ row }, place) => {
    const number = numbers.get(place)
    return number === undefined ? row : { ...row, invoice_number: number }
  })
  await insertInvoices(
    uow,
    saved.filter(({ status }, place) => all[place]?.stored === null && status === 'FINAL'),
  )
  await updateMany(
    uow,
    invoices,
    all.flatMap((pending, place) => changesOf(pending, saved[place] ?? pending.row)),
    'content',
  )
  for (const subject of [INVOICE, INVOICE_CHARGES])
    for (const [place, { stored, row }] of all.entries()) await followSave(uow, subject, saved[place] ?? row, stored)
  const views = new Map<InvoiceRow, DomainEvent['data']>()
  const viewOf = (row: InvoiceRow): DomainEvent['data'] => {
    const view = views.get(row) ?? invoiceView(row, uow.now)
    views.set(row, view)
    return view
  }
  await emitAll(
    uow,
    all.flatMap(({ row: last, notices }, place) => {
      const numbered = (row: InvoiceRow): InvoiceRow => (row === last ? (saved[place] ?? row) : row)
      return notices.map(({ type, row, previous }) => ({
        type,
        objectId: last.id,
        data: viewOf(numbered(row)),
        previous: previous && viewOf(numbered(previous)),
      }))
    }),
  )
  return saved
}

const insertInvoices = (uow: Uow, rows: readonly InvoiceRow[]): Promise<void> =>
  insertMany(
    uow,
    invoices,
    rows.map(({ custom_fields: _ownTable, ...columns }) => columns),
    'content',
  )

async function saveLines(uow: Uow, all: readonly PendingInvoice[]): Promise<void> {
  const changed = all.flatMap(({ stored, row, lines }) =>
    lines === null ? [] : [{ invoiceId: row.id, fresh: stored === null, lines: rowsOf(row, lines) }],
  )
  await replaceLinesOfMany(uow, changed)
}

/** The lines that become rows. What the draft of a credit note is about to give back, nothing else gives back. */
const rowsOf = (row: InvoiceRow, lines: readonly LineValues[]): readonly LineValues[] =>
  isOpenEnded(row) && !isCreditNote(row) ? linesOthersRead(lines) : lines

/** The columns whose value differs from the stored one. An invoice whose content stayed the same has the very object that was read. */
function changesOf(pending: PendingInvoice, row: InvoiceRow): { id: string }[] {
  if (pending.stored === null || row === pending.stored) return []
  const before: Partial<Record<string, unknown>> = pending.stored
  const others = Object.entries(row).filter(
    ([name, value]) =>
      name !== 'custom_fields' &&
      value !== before[name] &&
      (name === 'content' || !isDeepStrictEqual(value, before[name])),
  )
  return others.length === 0 ? [] : [{ ...Object.fromEntries(others), id: row.id }]
}

/** The numbers of invoices that become FINAL, by index. */
async function takeAll(uow: Uow, all: readonly PendingInvoice[]): Promise<Map<number, string>> {
  const becoming = all.flatMap(({ stored, row }, place) =>
    row.status === 'FINAL' && stored?.status !== 'FINAL' ? [{ row, place }] : [],
  )
  const numbers = new Map<number, string>()
  if (becoming.length === 0) return numbers
  const { invoice_settings: settings } = await loadInvoicingSettings(uow)
  const prefixed: Prefixed[] = []
  for (const [series, own] of groupBy(becoming, ({ row }) => seriesOfInvoice(row))) {
    const configuration = seriesOf(settings, series)
    const parties = own.map(({ row }) => ({ customerId: row.customer_id, billingEntityId: row.billing_entity_id }))
    const fields = await loadNumberFieldsOf(uow, settings, parties, series)
    for (const [index, { row, place }] of own.entries())
      prefixed.push({ place, configuration, prefix: prefixOf({ series, configuration }, row, fields[index] ?? []) })
  }
  // Counters are locked in a fixed order, so that two runs never deadlock.
  const counted = [...groupBy(prefixed, ({ prefix }) => prefix.counterKey)].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [counterKey, own] of counted) {
    const [first] = own
    if (!first) continue
    const { configuration } = first
    const counters = await takeNumbers(uow, { counterKey, count: own.length }, last => nextCounter(configuration, last))
    for (const [index, { place, prefix }] of own.entries()) {
      const counter = counters[index]
      if (counter === undefined) throw new Error('a counter gives as many numbers as are taken')
      numbers.set(place, documentNumber(configuration, prefix.text, counter))
    }
  }
  return numbers
}

type Numbered = { readonly series: NumberSeries; readonly configuration: NumberConfiguration }
type Prefixed = Pick<Numbered, 'configuration'> & {
  readonly place: number
  readonly prefix: ReturnType<typeof prefixOf>
}

/** Credit notes and self-billing invoices have numbering of their own (semantics 5.2). */
function seriesOfInvoice({ billing_type, ...row }: Pick<InvoiceRow, 'type' | 'billing_type'>): NumberSeries {
  if (billing_type === 'SELF_BILLING') return isCreditNote(row) ? 'SELF_BILLING_CREDIT' : 'SELF_BILLING'
  return isCreditNote(row) ? 'CREDIT' : 'STANDARD'
}

function prefixOf(
  { series, configuration }: Numbered,
  { invoice_date, timezone, content }: InvoiceRow,
  fields: readonly NumberField[],
): { readonly text: string; readonly counterKey: string } {
  if (invoice_date === null) throw new Error('a FINAL invoice has a date')
  const prefix = renderPrefix(configuration, series, {
    date: localDateOf(at(invoice_date), zoneNamed(timezone)),
    billingEntity: referenceOf(content.billing_entity),
    variable: ({ owner, reference }) =>
      fields.find(field => field.owner === owner && field.reference === reference)?.value ?? null,
  })
  if (prefix.kind !== 'missing') return prefix
  throw new AppError('INVALID_OPERATION', `The number needs the custom field ${prefix.variable.reference}.`, {
    field: 'invoice_number',
  })
}

function referenceOf(entity: Readonly<Record<string, unknown>>): string {
  const { reference } = entity
  if (typeof reference !== 'string') throw new Error('an invoice names its billing entity')
  return reference
}
