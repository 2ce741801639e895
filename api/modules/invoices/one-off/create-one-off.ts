// POST /v1/invoices: an invoice for what no subscription bills.
import { addDays, localDateOf, startOfLocalDay } from '../../../../shared/billing/local-days.ts'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { newId } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { planValues, saveValues } from '../../../resource/custom-fields/values.ts'
import { findOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { whyGone } from '../../parties/customers/customer-status.ts'
import { lockCustomerShared } from '../../parties/customers/lock-customer.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { platforms } from '../../parties/platforms/table.ts'
import { checkLine } from '../added-lines/change-lines.ts'
import type { AddedLine } from '../added-lines/price-added-line.ts'
import { zoneOfParties } from '../document/parties.ts'
import type { InvoiceRow } from '../table.ts'
import { loadOneOffParties } from './compute-one-off.ts'
import { announce, insertOneOff } from './insert-one-off.ts'
import type { OneOffInvoiceBody, OneOffTerms } from './schema.ts'

const HUNDRED = decimal('100')

/** The default of subscriptions too. */
const DUE = { type: 'PERIOD_AFTER_INVOICE_DATE', period: { type: 'DAY', value: 30 } } as const

/**
 * Creates a DRAFT that becomes FINAL only when a user requests it. Throws MISSING_FIELD or INVALID_FIELD with the
 * field, for a customer, billing entity, currency or line that cannot be billed.
 */
export async function createOneOff(uow: Uow, body: OneOffInvoiceBody): Promise<InvoiceRow> {
  checkPercentage(body.sales_tax_percentage ?? null)
  const customerId = await customerOf(uow, body)
  const billingEntityId = await billingEntityOf(uow, body)
  const terms = termsOf(body)
  const loaded = await loadOneOffParties(uow, { customerId, billingEntityId, terms })
  const zone = zoneOfParties(loaded.parties)
  const today = localDateOf(uow.now, zone)
  const instant = (day: typeof today): string => formatInstant(startOfLocalDay(day, zone))
  const time = { start: instant(today), end: instant(addDays(today, 1)) }
  const lines: AddedLine[] = []
  for (const [index, each] of body.lines.entries()) {
    const of = {
      ...time,
      currency: terms.billing_currency,
      customerId,
      billingEntityId,
      row: null,
      path: `lines.${index}.`,
    }
    lines.push({ id: newId('inad'), line: await checkLine(uow, each, of), sold: null })
  }
  const created = await insertOneOff(uow, {
    loaded,
    terms,
    lines,
    type: 'ONE_OFF',
    originalId: null,
    notes: body.notes ?? [],
    onHold: body.on_hold ?? false,
  })
  const { id } = created
  const fields = body.custom_fields
    ? await planValues(
        uow,
        { resourceType: 'INVOICE', resourceId: id },
        { given: body.custom_fields, action: undefined },
      )
    : null
  if (fields) await saveValues(uow, id, fields)
  return await announce(uow, id)
}

function checkPercentage(text: string | null): void {
  if (text === null || (decimal(text).gte(ZERO) && decimal(text).lte(HUNDRED))) return
  throw new AppError('INVALID_FIELD', 'sales_tax_percentage is from 0 to 100; "21" is 21 %.', {
    field: 'sales_tax_percentage',
  })
}

/** The customer by id or reference; if both are given, they must name the same customer. */
async function customerOf(uow: Uow, { customer_id, customer_reference }: OneOffInvoiceBody): Promise<string> {
  const name = customer_id ?? customer_reference
  const field = customer_id ? 'customer_id' : 'customer_reference'
  if (!name)
    throw new AppError('MISSING_FIELD', 'Give the customer of the invoice: customer_id or customer_reference.', {
      field: 'customer_id',
    })
  const customer = await findOne(uow, customerResource, name)
  if (!customer) throw notFound(customerResource, name, field)
  if (customer_id && customer_reference && customer.reference !== customer_reference)
    throw new AppError('INVALID_FIELD', 'customer_reference is of another customer than customer_id.', {
      field: 'customer_reference',
    })
  await lockCustomerShared(uow, customer.id)
  const gone = whyGone(customer)
  if (gone) throw new AppError('INVALID_FIELD', `The customer is ${gone} and gets no new invoice.`, { field })
  return customer.id
}

/** The given billing entity, or the platform's default. */
async function billingEntityOf(uow: Uow, { billing_entity_id }: OneOffInvoiceBody): Promise<string> {
  const field = 'billing_entity_id'
  if (billing_entity_id) {
    const entity = await findOne(uow, billingEntityResource, billing_entity_id)
    if (!entity) throw notFound(billingEntityResource, billing_entity_id, field)
    return entity.id
  }
  const [platform] = await uow.tx
    .select({ id: platforms.default_billing_entity_id })
    .from(platforms)
    .where(inThisTenant(uow, platforms))
  if (platform?.id) return platform.id
  throw new AppError('MISSING_FIELD', 'Give billing_entity_id; the platform has no default billing entity.', { field })
}

function termsOf(body: OneOffInvoiceBody): OneOffTerms {
  const due = body.due_date_configuration ?? DUE
  if (due.type === 'PERIOD_AFTER_INVOICE_DATE' && !due.period)
    throw new AppError('MISSING_FIELD', 'PERIOD_AFTER_INVOICE_DATE needs a period.', {
      field: 'due_date_configuration.period',
    })
  return {
    billing_currency: currencyOf(body),
    invoice_date: body.invoice_date ?? null,
    delivery_date: body.delivery_date ?? null,
    due_date_configuration: due,
    purchase_order_number: body.purchase_order_number ?? null,
    sales_tax_percentage: body.sales_tax_percentage ?? null,
  }
}

/** The given currency, or that of the first line. */
function currencyOf({ billing_currency, lines }: OneOffInvoiceBody): string {
  const [first] = lines
  const of = first?.pricing_band
  const currency =
    billing_currency ??
    of?.amount?.currency ??
    of?.fixed_amount?.currency ??
    of?.minimum_amount?.currency ??
    first?.volume?.amount?.currency
  if (currency) return currency
  throw new AppError('MISSING_FIELD', 'Give billing_currency; the first line has no amount with a currency.', {
    field: 'billing_currency',
  })
}
