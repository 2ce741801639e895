// The first payment of a subscription, made elsewhere before the subscription was there (semantics 4.2): its first invoice is FINAL and
// paid by it at once, in the transaction that makes both.
import type { Static } from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { saveNew } from '../../../resource/commands.ts'
import { Amount, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { draftOpening, issueOpening } from '../../billing/run/opening-invoice.ts'
import type { InvoiceRow } from '../../invoices/table.ts'
import type { Subscription } from '../../subscriptions/table.ts'
import { checkPaid, ExternalReference, OwnReference, paymentResource } from '../payment.ts'
import type { Payment } from '../table.ts'

export const FIRST_PAYMENT = 'first_payment'

export const FirstPaymentBody = Shape(
  {
    amount: Amount,
    timestamp: Optional(Timestamp),
    reference: Optional(OwnReference),
    external_reference: Optional(ExternalReference),
    result: Optional(OneOf('AUTHORIZED', 'PENDING', 'REFUSED', 'ERROR', 'CANCELLED')),
  },
  { title: 'FirstPaymentCreate' },
)
export type FirstPayment = Static<typeof FirstPaymentBody>

/** What answers show of it: both null without a first payment. */
export type FirstPaid = { readonly payment: Payment | null; readonly invoice: InvoiceRow | null }

/**
 * Records the first payment of a subscription that this transaction has made. AUTHORIZED makes its first invoice FINAL and pays it;
 * any other result is kept beside a DRAFT. Throws INVALID_OPERATION where nothing is charged at the start of a subscription that
 * was paid for, INVALID_FIELD for an amount that cannot be recorded, and MissingTaxAnswer where the tax engine must be asked first.
 */
export async function payFirst(
  uow: Uow,
  subscription: Subscription,
  given: FirstPayment,
  failpoint?: Failpoints,
): Promise<FirstPaid> {
  const { amount, timestamp, reference, external_reference, result = 'AUTHORIZED' } = given
  if (subscription.status !== 'ACTIVE') {
    const message = 'A DRAFT is not billed, so it has no first invoice; send status ACTIVE with the first payment.'
    throw new AppError('INVALID_OPERATION', message, { field: FIRST_PAYMENT })
  }
  await failpoint?.('init.before-invoice')
  const draft = await draftOpening(uow, subscription.id)
  if (draft === null && result === 'AUTHORIZED') {
    const message =
      'The subscription charges nothing at its start, so there is no first invoice to pay. Leave first_payment out, and record ' +
      'the payment with POST /v1/payments.'
    throw new AppError('INVALID_OPERATION', message, { field: FIRST_PAYMENT })
  }
  const customerId = draft?.customer_id ?? subscription.forward_customer_id ?? subscription.customer_id
  if (customerId === null) throw new Error('an ACTIVE subscription has a customer')
  const values = {
    customer_id: customerId,
    invoice_id: draft?.id ?? null,
    timestamp: timestamp ?? formatInstant(uow.now),
    amount,
    refunded_amount: { quantity: '0', currency: amount.currency },
    reference: reference ?? null,
    external_reference: external_reference ?? null,
    result,
  }
  const currency = draft?.billing_currency ?? subscription.billing_currency
  within(() => checkPaid(values, currency))
  const invoice = draft && result === 'AUTHORIZED' ? await issueOpening(uow, draft, subscription.id) : draft
  await failpoint?.('init.before-payment')
  return { payment: await saveNew(uow, paymentResource, values), invoice }
}

function within(check: () => void): void {
  try {
    check()
  } catch (error) {
    throw error instanceof AppError ? error.within(FIRST_PAYMENT) : error
  }
}
