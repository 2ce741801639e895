// POST /v1/pricing-plan-subscriptions/init: a subscription with everything that comes with it, its first payment too. It stands here,
// above subscriptions, since it answers with an invoice and a payment.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { withForm } from '../../../http/body/forms.ts'
import { type RouteDeps, writeRoute } from '../../../http/route.ts'
import { Nullable, Optional, Shape } from '../../../resource/shapes.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { viewOf, viewsOf } from '../../../resource/views.ts'
import { wholeInvoice } from '../../invoices/answer.ts'
import type { InvoiceDeps } from '../../invoices/producer.ts'
import { getInvoice } from '../../invoices/repository.ts'
import { InvoiceView } from '../../invoices/schema.ts'
import { newCustomerId, withStableCustomerId } from '../../invoices/tax/answers/new-customer.ts'
import { saveRetainedAnswers } from '../../invoices/tax/answers/store-answers.ts'
import { engineOf, withTaxAnswers } from '../../invoices/tax/answers/with-answers.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { entitlementsOf } from '../../subscriptions/entitlements/entitlements-of.ts'
import {
  type Initialized,
  type InitRequest,
  initSubscription,
  requirePermission,
} from '../../subscriptions/init/init-subscription.ts'
import { InitAnswer, InitBody, membersOf, NOT_ON_TOP } from '../../subscriptions/init/schema.ts'
import { scheduleResource } from '../../subscriptions/schedules/schedule.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import { paymentResource } from '../payment.ts'
import { FIRST_PAYMENT, type FirstPaid, type FirstPayment, FirstPaymentBody, payFirst } from './first-payment.ts'

const Body = withForm(
  Shape(
    { ...membersOf(InitBody), [FIRST_PAYMENT]: Optional(FirstPaymentBody) },
    { title: 'PricingPlanSubscriptionInitCreate' },
  ),
  { member: 'template_pricing_plan_subscription_id', says: NOT_ON_TOP },
)
const Answer = Type.Object(
  {
    ...membersOf(InitAnswer),
    first_payment: Nullable(paymentResource.view),
    invoice: Nullable(InvoiceView),
  },
  { title: 'PricingPlanSubscriptionInit' },
)

type Request = Omit<InitRequest, typeof FIRST_PAYMENT> & { readonly first_payment?: FirstPayment }

export type InitDeps = RouteDeps & Pick<InvoiceDeps, 'taxEngine'>

/** Registers it. */
export function initRoute(app: FastifyInstance, deps: InitDeps): void {
  writeRoute(app, deps, {
    tag: subscriptionResource.path,
    permission: 'PRICING_PLAN_SUBSCRIPTION.CREATE',
    summary: 'Create a subscription with its schedules in one call: from a template, or in full and with its customer.',
    method: 'POST',
    url: '/v1/pricing-plan-subscriptions/init',
    status: 200,
    body: Body,
    response: Answer,
    around: (tenant, work) => withStableCustomerId(() => withTaxAnswers(engineOf(deps), tenant, work)),
    handle: async (uow, { body }) => {
      const request = normalizeTimes(Body, body) as Request
      const made = await initSubscription(uow, request, newCustomerId())
      await saveRetainedAnswers(uow)
      const paid = await firstPaid(deps, uow, made, request)
      return { ...(await initAnswer(uow, made)), ...(await paidAnswer(uow, paid)) }
    },
  })
}

async function firstPaid(
  { failpoint }: RouteDeps,
  uow: Uow,
  made: Initialized,
  { first_payment }: Request,
): Promise<FirstPaid> {
  if (first_payment === undefined) return { payment: null, invoice: null }
  requirePermission(uow, 'PAYMENT.CREATE', FIRST_PAYMENT)
  // It makes an invoice FINAL, on hold or not.
  if ((first_payment.result ?? 'AUTHORIZED') === 'AUTHORIZED') requirePermission(uow, 'INVOICE.UPDATE', FIRST_PAYMENT)
  return await payFirst(uow, made.subscription, first_payment, failpoint)
}

/** The invoice as it is once it is paid; both members only for who may read them. */
async function paidAnswer(uow: Uow, { payment, invoice }: FirstPaid) {
  const shown = (permission: string): boolean => uow.actor.may?.(permission) !== false
  return {
    first_payment: payment && shown('PAYMENT.VIEW') ? await viewOf(uow, paymentResource, payment) : null,
    invoice: invoice && shown('INVOICE.VIEW') ? await wholeInvoice(uow, await getInvoice(uow, invoice.id)) : null,
  }
}

async function initAnswer(uow: Uow, { customer, subscription: row, schedules }: Initialized) {
  const subscription = await viewOf(uow, subscriptionResource, row)
  const visible = customer !== null && uow.actor.may?.('CUSTOMER.VIEW') !== false
  return {
    ...subscription,
    customer: visible ? await viewOf(uow, customerResource, customer) : null,
    pricing_plan_subscription: subscription,
    pricing_plan_schedules: await viewsOf(uow, scheduleResource, schedules),
    pricing_plan_subscription_start_at: schedules[0]?.start_at ?? null,
    enabled_pricings: schedules[0]?.enabled_pricings ?? [],
    entitlements_summary: visible ? await entitlementsOf(uow, customer.id) : null,
  }
}
