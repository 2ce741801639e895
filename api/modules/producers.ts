// Everything that makes invoices, listed once for the processes: a new kind of invoice is one line here.
import type { BillingDeps } from './billing/run/compute-invoice.ts'
import { subscriptionProducer } from './billing/run/subscription-producer.ts'
import type { InvoiceProducer } from './invoices/producer.ts'

export const invoiceProducers = (deps: BillingDeps): readonly InvoiceProducer[] => [subscriptionProducer(deps)]
